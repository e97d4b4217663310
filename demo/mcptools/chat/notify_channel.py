import json
import os
import urllib.parse
import urllib.request
from typing import Literal


def run(
    channel: str,
    headline: str,
    severity: Literal["info", "warning", "critical"] = "warning",
    link: str | None = None,
) -> dict[str, str]:
    """Notify coworkers in a channel that something failed, such as a pipeline or a deployment.

    Args:
        channel: Channel name, such as "releases".
        headline: One line that says what happened.
        severity: How urgent it looks; "critical" also rings phones.
        link: Where to read more, for instance a log.

    Returns:
        Identifier and severity of what was posted.
    """
    mark = {"info": "ℹ️", "warning": "⚠️", "critical": "🚨"}[severity]
    text = f"{mark} {headline}" + (f"\n{link}" if link else "")
    path = f"/channels/{urllib.parse.quote(channel.lstrip('#'), safe='')}/messages"
    posted = _call("POST", path, {"text": text, "priority": severity})
    return {"message_id": posted["id"], "severity": severity}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
