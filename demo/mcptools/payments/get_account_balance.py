import json
import os
import urllib.request


def run(currency: str | None = None) -> dict:
    """Retrieve available and pending funds on the merchant account.

    Args:
        currency: Three-letter code; all currencies if omitted.

    Returns:
        Available and pending amounts per currency, in the smallest unit.
    """
    balances = _call("GET", "/v1/balance")["balances"]
    return {
        entry["currency"]: {"available": entry["available"], "pending": entry["pending"]}
        for entry in balances
        if currency is None or entry["currency"].upper() == currency.upper()
    }


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
