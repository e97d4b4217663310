import json
import os
import urllib.parse
import urllib.request


def run(channel: str, text: str, mention: list[str] | None = None) -> dict[str, str]:
    """Send a message into a channel for colleagues to read.

    Args:
        channel: Channel name, such as "general".
        text: What to say. Markdown works.
        mention: User names of people who should get an alert.

    Returns:
        Identifier and permanent address of what was posted.
    """
    tags = " ".join(f"@{name}" for name in mention or [])
    path = f"/channels/{urllib.parse.quote(channel.lstrip('#'), safe='')}/messages"
    posted = _call("POST", path, {"text": f"{tags} {text}".strip()})
    return {"message_id": posted["id"], "url": posted.get("url", "")}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
