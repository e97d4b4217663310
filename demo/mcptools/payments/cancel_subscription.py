import json
import os
import urllib.parse
import urllib.request


def run(subscription_id: str, immediately: bool = False, feedback: str | None = None) -> dict:
    """End a recurring plan.

    Unless it is ended immediately, the subscriber keeps access until the paid period is over.

    Args:
        subscription_id: The plan to end.
        immediately: Stop at once, without a credit for unused time.
        feedback: What the subscriber gave as a reason.

    Returns:
        The subscription with the date on which it ends.
    """
    payload = {"at_period_end": not immediately, "feedback": feedback}
    path = f"/v1/subscriptions/{urllib.parse.quote(subscription_id, safe='')}/cancel"
    return _call("POST", path, payload)


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
