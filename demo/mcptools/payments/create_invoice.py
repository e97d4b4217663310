import json
import os
import urllib.request


def run(
    customer_id: str,
    items: dict[str, str],
    currency: str = "EUR",
    due_days: int = 30,
    send: bool = False,
) -> dict:
    """Bill a customer for goods or services.

    The invoice stays a draft unless it is sent right away.

    Args:
        customer_id: Who is billed.
        items: Description of each item and its net price, such as {"Consulting": "480.00"}.
        currency: Three-letter code.
        due_days: Days until payment is due.
        send: Finalise the invoice and mail it to the customer.

    Returns:
        The invoice with number and total.
    """
    lines = [{"description": text, "price": price} for text, price in items.items()]
    invoice = {"customer": customer_id, "currency": currency.upper(), "due_days": due_days}
    return _call("POST", "/v1/invoices", invoice | {"lines": lines, "send": send})


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
