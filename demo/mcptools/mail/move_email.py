import imaplib
import os


def run(mail_id: int, destination: str, folder: str = "INBOX") -> dict[str, str | int]:
    """File a mail away in another folder, for example to archive it.

    Args:
        mail_id: UID of the mail.
        destination: Folder that the mail goes to.
        folder: Folder in which the mail lies now.

    Returns:
        The mail's id and its new folder.
    """
    uid = str(int(mail_id))
    with _login() as server:
        server.select(_quote(folder))
        status, reply = server.uid("COPY", uid, _quote(destination))
        if status != "OK":
            raise RuntimeError(f"server refused to copy: {reply}")
        server.uid("STORE", uid, "+FLAGS", r"(\Deleted)")
        server.uid("EXPUNGE", uid)
    return {"id": mail_id, "folder": destination}


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
