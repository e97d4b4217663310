import json
import os
import urllib.parse
import urllib.request


def run(message_id: str, emoji: str = "thumbsup") -> bool:
    """React to a message with an emoji.

    Args:
        message_id: Message to react to.
        emoji: Short code without colons.

    Returns:
        True once stored.
    """
    path = f"/messages/{urllib.parse.quote(message_id, safe='')}/reactions"
    return bool(_call("POST", path, {"emoji": emoji.strip(":")}).get("ok", True))


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
