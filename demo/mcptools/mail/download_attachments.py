import imaplib
import os
from email import message_from_bytes, policy
from pathlib import Path


def run(mail_id: int, target_folder: str, folder: str = "INBOX") -> list[str]:
    """Save the files attached to a mail on disk.

    Args:
        mail_id: UID of the mail.
        target_folder: Directory to save into, made if missing.
        folder: Mail folder in which the mail lies.

    Returns:
        Paths of the saved files.
    """
    with _login() as server:
        server.select(_quote(folder), readonly=True)
        reply = server.uid("FETCH", str(int(mail_id)), "(BODY.PEEK[])")[1][0]
    if reply is None:
        raise LookupError(f"no mail {mail_id} in {folder}")
    saved, place = [], Path(target_folder)
    place.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(message_from_bytes(reply[1], policy=policy.default).walk(), 1):
        if part.get_content_disposition() == "attachment":
            path = place / (Path(part.get_filename() or "").name or f"attachment-{number}")
            path.write_bytes(part.get_payload(decode=True) or b"")
            saved.append(str(path))
    return saved


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
