import json
import os
import urllib.parse
import urllib.request


def run(service: str, replicas: int, environment: str = "production") -> dict:
    """Change how many replicas of a service are running.

    Args:
        service: Name of the service.
        replicas: Wanted number of replicas, 0 to 100.
        environment: Environment to act on.

    Returns:
        Previous and new number of replicas.
    """
    if not 0 <= replicas <= 100:
        raise ValueError("replicas must lie between 0 and 100")
    place, name = (urllib.parse.quote(part, safe="") for part in (environment, service))
    return _call("PATCH", f"/environments/{place}/services/{name}", {"replicas": replicas})


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_DEVOPS_URL"), os.environ.get("DEMO_DEVOPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_DEVOPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
