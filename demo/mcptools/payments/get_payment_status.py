import json
import os
import urllib.parse
import urllib.request


def run(payment_id: str) -> dict:
    """Check whether a payment has gone through, is pending or was declined.

    Args:
        payment_id: The payment to check.

    Returns:
        Status, amount, currency and, where applicable, the reason for the decline.
    """
    payment = _call("GET", f"/v1/payments/{urllib.parse.quote(payment_id, safe='')}")
    keys = ("id", "status", "amount", "currency", "decline_reason")
    return {key: payment[key] for key in keys if key in payment}


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
