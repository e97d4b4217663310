import imaplib
import os
from email import message_from_bytes, policy


def run(mail_id: int, folder: str = "INBOX", mark_seen: bool = False) -> dict:
    """Fetch one mail with its text and the names of its attachments.

    Args:
        mail_id: UID of the mail, as given by a search.
        folder: Folder in which the mail lies.
        mark_seen: Flag the mail as read.

    Returns:
        Sender, recipients, subject, date, text and attachment names.
    """
    with _login() as server:
        server.select(_quote(folder), readonly=not mark_seen)
        part = "(BODY[])" if mark_seen else "(BODY.PEEK[])"
        reply = server.uid("FETCH", str(int(mail_id)), part)[1][0]
    if reply is None:
        raise LookupError(f"no mail {mail_id} in {folder}")
    mail = message_from_bytes(reply[1], policy=policy.default)
    body = mail.get_body(("plain", "html"))
    return {
        **{key: str(mail[key] or "") for key in ("from", "to", "subject", "date")},
        "text": body.get_content() if body else "",
        "attachments": [item.get_filename() for item in mail.iter_attachments()],
    }


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
