import json
import os
import urllib.parse
import urllib.request
from typing import Literal


def run(
    service: str,
    environment: Literal["development", "staging", "production"] = "staging",
    graceful: bool = True,
) -> dict:
    """Restart a deployed service, instance by instance.

    Args:
        service: Name of the service.
        environment: Where it is running.
        graceful: Drain open connections before an instance is stopped.

    Returns:
        The operation as accepted by the platform.
    """
    path = f"/environments/{environment}/services/{urllib.parse.quote(service, safe='')}/restart"
    return _call("POST", path, {"graceful": graceful})


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_DEVOPS_URL"), os.environ.get("DEMO_DEVOPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_DEVOPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
