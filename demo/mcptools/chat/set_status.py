import json
import os
import urllib.request


def run(text: str, emoji: str | None = None, minutes: int | None = None) -> dict:
    """Change your own presence line, for example to "On holiday" or "Focusing".

    Args:
        text: Presence line; empty clears it.
        emoji: Symbol shown beside your name.
        minutes: Clear automatically after so many minutes.

    Returns:
        Your profile after saving.
    """
    return _call("PUT", "/me/status", {"text": text, "emoji": emoji, "expires_in": minutes})


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
