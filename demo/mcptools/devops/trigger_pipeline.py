import json
import os
import urllib.parse
import urllib.request


def run(
    project: str, branch: str = "main", variables: dict[str, str] | None = None
) -> dict[str, str]:
    """Start a CI/CD pipeline for a branch of a project.

    Args:
        project: Project slug, such as "shop/backend".
        branch: Branch or tag to run on.
        variables: Extra variables handed to the jobs.

    Returns:
        Id, status and web address of the run.
    """
    path = f"/projects/{urllib.parse.quote(project, safe='')}/pipelines"
    started = _call("POST", path, {"ref": branch, "variables": variables or {}})
    return {key: str(started.get(key, "")) for key in ("id", "status", "url")}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_DEVOPS_URL"), os.environ.get("DEMO_DEVOPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_DEVOPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
