import json
import os
import urllib.parse
import urllib.request
from typing import Literal


def run(
    since: str,
    until: str | None = None,
    kind: Literal["all", "charge", "refund", "payout", "fee"] = "all",
    limit: int = 50,
) -> list[dict]:
    """List money movements on the merchant account for a period, e.g. for reconciliation.

    Args:
        since: First day, such as "2025-04-01".
        until: Last day; today if omitted.
        kind: Restrict to one kind of movement.
        limit: Number of movements at most.

    Returns:
        The movements, newest first.
    """
    query = {"since": since, "until": until, "type": None if kind == "all" else kind}
    wanted = {key: value for key, value in query.items() if value} | {"limit": limit}
    return _call("GET", "/v1/transactions?" + urllib.parse.urlencode(wanted))["data"]


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
