import imaplib
import os
from datetime import date
from email import message_from_bytes, policy


def run(query: str, folder: str = "INBOX", since: str | None = None, limit: int = 20) -> list[dict]:
    """Look for mails that contain certain words, in headers or bodies.

    Args:
        query: Words to find.
        folder: Mail folder to search.
        since: Oldest date of interest, such as "2025-01-31".
        limit: Number of mails to return, newest first.

    Returns:
        Id, sender, subject and date of each mail.
    """
    criteria = ["CHARSET", "UTF-8", "TEXT", _quote(query).encode()]
    criteria += ["SINCE", f"{date.fromisoformat(since):%d-%b-%Y}"] if since else []
    found = []
    with _login() as server:
        server.select(_quote(folder), readonly=True)
        for uid in server.uid("SEARCH", *criteria)[1][0].split()[::-1][:limit]:
            data = server.uid("FETCH", uid, "(BODY.PEEK[HEADER])")[1][0][1]
            mail = message_from_bytes(data, policy=policy.default)
            heads = {key: str(mail[key] or "") for key in ("from", "subject", "date")}
            found.append({"id": uid.decode()} | heads)
    return found


def _login() -> imaplib.IMAP4_SSL:
    names = ("DEMO_IMAP_HOST", "DEMO_IMAP_USER", "DEMO_IMAP_PASSWORD")
    if absent := [name for name in names if not os.environ.get(name)]:
        raise RuntimeError(f"missing environment variable {absent[0]}")
    server = imaplib.IMAP4_SSL(os.environ[names[0]], timeout=20)
    server.login(os.environ[names[1]], os.environ[names[2]])
    return server


def _quote(text: str) -> str:
    if not text.isprintable():
        raise ValueError("control characters are not allowed")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
