import json
import os
import urllib.parse
import urllib.request


def run(
    query: str, channel: str | None = None, author: str | None = None, limit: int = 20
) -> list[dict]:
    """Search past conversations by keyword.

    Args:
        query: Words that should occur.
        channel: Look in one channel only.
        author: Look at one person's messages only.
        limit: Maximum number of hits.

    Returns:
        Hits with author, time, channel and text.
    """
    wanted = {"q": query, "channel": channel, "author": author, "limit": limit}
    given = {key: value for key, value in wanted.items() if value is not None}
    return _call("GET", "/search?" + urllib.parse.urlencode(given))["messages"]


def _call(method: str, path: str, payload: dict | None = None) -> dict:
    url, token = os.environ.get("DEMO_CHAT_URL"), os.environ.get("DEMO_CHAT_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_CHAT_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
