import imaplib
import os
import re


def run(pattern: str = "*") -> list[str]:
    """List the folders of the mailbox.

    Args:
        pattern: IMAP pattern, such as "Projects/*".

    Returns:
        Folder names, sorted.
    """
    with _login() as server:
        lines = server.list('""', _quote(pattern))[1]
    names = (re.search(r'(?:"((?:[^"\\]|\\.)*)"|(\S+))$', line.decode()) for line in lines if line)
    return sorted(match[1] or match[2] for match in names if match)


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
