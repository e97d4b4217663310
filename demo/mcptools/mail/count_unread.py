import imaplib
import os
import re


def run(folders: list[str] | None = None) -> dict[str, int]:
    """Say how many unread mails are waiting in each folder.

    Args:
        folders: Folders to check; just the inbox by default.

    Returns:
        Number of unread mails per folder.
    """
    counts = {}
    with _login() as server:
        for folder in folders or ["INBOX"]:
            status, reply = server.status(_quote(folder), "(UNSEEN)")
            match = re.search(rb"UNSEEN (\d+)", reply[0] or b"")
            if status != "OK" or not match:
                raise LookupError(f"no folder named {folder}")
            counts[folder] = int(match[1])
    return counts


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
