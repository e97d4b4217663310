import json
import os
import urllib.parse
import urllib.request


def run(environment: str, service: str | None = None, limit: int = 10) -> list[dict]:
    """See which versions were rolled out recently, when and by whom.

    Args:
        environment: Environment such as "staging".
        service: Restrict to one service.
        limit: Number of rollouts.

    Returns:
        The rollouts, latest first.
    """
    query = {"limit": limit} | ({"service": service} if service else {})
    place = urllib.parse.quote(environment, safe="")
    reply = _call("GET", f"/environments/{place}/deployments?{urllib.parse.urlencode(query)}")
    return reply["deployments"]


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_DEVOPS_URL"), os.environ.get("DEMO_DEVOPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_DEVOPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
