import json
import os
import urllib.request


def run(recipients: list[str], text: str) -> dict[str, str]:
    """Write privately to one person, or to a small group, on chat.

    A conversation gets opened if none exists among these people.

    Args:
        recipients: User names, up to eight.
        text: What to say.

    Returns:
        Identifiers of conversation and message.
    """
    if not 1 <= len(recipients) <= 8:
        raise ValueError("give one to eight recipients")
    room = _call("POST", "/conversations", {"users": recipients})["id"]
    posted = _call("POST", f"/conversations/{room}/messages", {"text": text})
    return {"conversation_id": room, "message_id": posted["id"]}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
