import imaplib
import os
import time
from email.message import EmailMessage


def run(to: list[str], subject: str, body: str, folder: str = "Drafts") -> str:
    """Compose a mail and keep it as a draft for a person to review and send later.

    Args:
        to: Addresses of the intended recipients.
        subject: Subject line.
        body: Plain-text body.
        folder: Folder for drafts.

    Returns:
        The server's confirmation.
    """
    mail = EmailMessage()
    mail["To"], mail["Subject"] = ", ".join(to), subject
    mail.set_content(body)
    with _login() as server:
        now = imaplib.Time2Internaldate(time.time())
        status, reply = server.append(_quote(folder), r"(\Draft)", now, mail.as_bytes())
    if status != "OK":
        raise RuntimeError(f"draft was not stored: {reply}")
    return reply[0].decode()


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
