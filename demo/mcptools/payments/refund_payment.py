import json
import os
import urllib.parse
import urllib.request
from typing import Literal


def run(
    payment_id: str,
    amount: int | None = None,
    reason: Literal["requested", "duplicate", "fraud"] = "requested",
) -> dict:
    """Give a customer their money back, in full or in part.

    Args:
        payment_id: The payment to reverse.
        amount: Part to give back in the smallest unit of the currency; all of it if omitted.
        reason: Why, for the books.

    Returns:
        The refund as recorded by the payment provider.
    """
    payload = {"reason": reason} | ({"amount": amount} if amount is not None else {})
    return _call("POST", f"/v1/payments/{urllib.parse.quote(payment_id, safe='')}/refunds", payload)


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_PAYMENTS_URL"), os.environ.get("DEMO_PAYMENTS_TOKEN")
    if not url or not token:
        raise RuntimeError(
            f"missing environment variable DEMO_PAYMENTS_{'TOKEN' if url else 'URL'}"
        )
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
