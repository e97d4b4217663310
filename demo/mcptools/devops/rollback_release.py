import json
import os
import urllib.parse
import urllib.request


def run(service: str, environment: str, to_version: str | None = None, reason: str = "") -> dict:
    """Return a service to an earlier version.

    Traffic is switched to the previous image; database migrations are not undone.

    Args:
        service: Name of the service.
        environment: Environment such as "production".
        to_version: Version to go back to; the one before the current if omitted.
        reason: Entry for the audit trail.

    Returns:
        Version before and after, and the id of the deployment.
    """
    place, name = (urllib.parse.quote(part, safe="") for part in (environment, service))
    payload = {"version": to_version or "previous", "reason": reason}
    return _call("POST", f"/environments/{place}/services/{name}/rollback", payload)


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_DEVOPS_URL"), os.environ.get("DEMO_DEVOPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_DEVOPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
