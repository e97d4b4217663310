import re

_PATTERNS = {
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "iban": r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
    "card": r"\b\d{4}(?:[ -]?\d{4}){3}\b",
    "ip": r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
    "phone": r"(?<![\w.])\+?\d(?:[ ()/-]{0,2}\d){7,13}\b",
}


def run(text: str, keep: list[str] | None = None, mask: str | None = None) -> dict:
    """Black out e-mail addresses, phone numbers, card numbers, IBANs and IP addresses.

    Meant for cleaning up transcripts or support cases before they are shared. Names and
    postal addresses are not recognised.

    Args:
        text: Material to clean.
        keep: Kinds to leave alone, out of email, iban, card, ip and phone.
        mask: Fixed replacement; by default the kind in brackets, such as "[email]".

    Returns:
        "text" with the cleaned material and "removed" with a count per kind.
    """
    removed = {}
    for kind, pattern in _PATTERNS.items():
        if kind in (keep or []):
            continue
        cover = f"[{kind}]" if mask is None else mask
        text, removed[kind] = re.subn(pattern, cover.replace("\\", r"\\"), text)
    return {"text": text, "removed": removed}
