import json
import os
import urllib.parse
import urllib.request
from datetime import datetime


def run(channel: str, text: str, send_at: str) -> dict[str, str]:
    """Queue a channel message for delivery at a later time.

    Args:
        channel: Channel name.
        text: What will be said.
        send_at: Delivery time in ISO format with offset, such as "2025-06-02T08:00+02:00".

    Returns:
        Identifier of your queued message, and when it goes out.
    """
    moment = datetime.fromisoformat(send_at)
    if moment.tzinfo is None or moment <= datetime.now(moment.tzinfo):
        raise ValueError("send_at needs an offset and must lie ahead")
    path = f"/channels/{urllib.parse.quote(channel.lstrip('#'), safe='')}/scheduled"
    queued = _call("POST", path, {"text": text, "send_at": moment.isoformat()})
    return {"scheduled_id": queued["id"], "send_at": moment.isoformat()}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
