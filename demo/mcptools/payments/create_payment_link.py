import json
import os
import urllib.request


def run(
    amount: int, currency: str, description: str, expires_in_hours: int | None = None
) -> dict[str, str]:
    """Create a checkout page that a shopper can open to pay.

    Args:
        amount: Price in the smallest unit of the currency, e.g. cents.
        currency: Three-letter code such as EUR.
        description: What is being paid for, shown on the page.
        expires_in_hours: Lifetime of the page; unlimited if omitted.

    Returns:
        Id and address of the page.
    """
    if amount <= 0:
        raise ValueError("the amount must be positive")
    order = {"amount": amount, "currency": currency.upper(), "description": description}
    if expires_in_hours:
        order["expires_in"] = expires_in_hours * 3600
    link = _call("POST", "/v1/payment_links", order)
    return {"id": link["id"], "url": link["url"]}


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
