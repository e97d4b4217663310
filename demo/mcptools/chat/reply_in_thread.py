import json
import os
import urllib.parse
import urllib.request


def run(message_id: str, text: str, also_to_channel: bool = False) -> dict[str, str]:
    """Answer somebody's message inside its thread.

    Args:
        message_id: Message being answered.
        text: Your answer. Markdown works.
        also_to_channel: Show your answer in main view as well.

    Returns:
        Identifier of your answer.
    """
    path = f"/messages/{urllib.parse.quote(message_id, safe='')}/replies"
    posted = _call("POST", path, {"text": text, "broadcast": also_to_channel})
    return {"message_id": posted["id"]}


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
