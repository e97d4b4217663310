from email import message_from_bytes, policy
from pathlib import Path


def run(path: str) -> dict:
    """Parse a saved .eml file into headers, text and a list of attachments.

    Args:
        path: The .eml file.

    Returns:
        "headers", "text" and "attachments" with name, type and size.
    """
    mail = message_from_bytes(Path(path).read_bytes(), policy=policy.default)
    body = mail.get_body(("plain", "html"))
    return {
        "headers": {key: str(value) for key, value in mail.items()},
        "text": body.get_content() if body else "",
        "attachments": [
            {
                "name": part.get_filename() or "",
                "type": part.get_content_type(),
                "size": len(part.get_payload(decode=True) or b""),
            }
            for part in mail.iter_attachments()
        ],
    }
