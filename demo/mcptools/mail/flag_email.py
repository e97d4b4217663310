import imaplib
import os
from typing import Literal


def run(
    mail_id: int,
    flag: Literal["Seen", "Flagged", "Answered"] = "Flagged",
    remove: bool = False,
    folder: str = "INBOX",
) -> list[str]:
    """Star a mail or mark it as read or unread.

    Args:
        mail_id: UID of the mail.
        flag: Which mark to change; "Seen" stands for read, "Flagged" for the star.
        remove: Take the mark away rather than set it.
        folder: Folder in which the mail lies.

    Returns:
        All marks that the mail carries now.
    """
    change = "-FLAGS" if remove else "+FLAGS"
    with _login() as server:
        server.select(_quote(folder))
        line = server.uid("STORE", str(int(mail_id)), change, f"(\\{flag})")[1][0]
    if line is None:
        raise LookupError(f"no mail {mail_id} in {folder}")
    return [name.decode().lstrip("\\") for name in imaplib.ParseFlags(line)]


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
