import os
import smtplib
from email.message import EmailMessage
from email.utils import make_msgid


def run(
    to: list[str], subject: str, body: str, cc: list[str] | None = None, html: str | None = None
) -> dict[str, str | list[str]]:
    """Send an e-mail to one or more recipients.

    Goes out over SMTP with STARTTLS from the account configured for the demo.

    Args:
        to: Addresses of the recipients.
        subject: Subject line.
        body: Plain-text body.
        cc: Addresses that receive a copy.
        html: Alternative HTML body.

    Returns:
        Message-ID of the mail and the addresses that the server refused.
    """
    names = ("DEMO_SMTP_HOST", "DEMO_SMTP_USER", "DEMO_SMTP_PASSWORD")
    if absent := [name for name in names if not os.environ.get(name)]:
        raise RuntimeError(f"missing environment variable {absent[0]}")
    host, user, password = (os.environ[name] for name in names)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = user, ", ".join(to), subject
    mail["Message-ID"] = make_msgid()
    if cc:
        mail["Cc"] = ", ".join(cc)
    mail.set_content(body)
    if html:
        mail.add_alternative(html, subtype="html")
    with smtplib.SMTP(host, 587, timeout=20) as server:
        server.starttls()
        server.login(user, password)
        refused = server.send_message(mail)
    return {"message_id": mail["Message-ID"], "refused": sorted(refused)}
