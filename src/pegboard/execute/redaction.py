"""Secrets taken out of texts."""

import base64
import json
import re
from collections.abc import Set
from urllib.parse import quote

LEAST_SECRET = 4
"""Shorter values are not hidden: every message would lose its letters, and they protect nothing."""

LEAST_LINE = 16
"""A line of a secret that is at least so long, such as those of a key file, is one by itself."""

HIDDEN = "***"


def redacted(text: str, secrets: Set[str]) -> str:
    """The text without any of these values, as they are or as others may write them."""
    spellings = {
        spelling
        for secret in secrets
        for part in _parts(secret)
        if len(part) >= LEAST_SECRET
        for spelling in _spellings(part)
    }
    if not spellings:
        return text
    longest_first = sorted(spellings, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text)


def _parts(secret: str) -> set[str]:
    """All of it, also without the line end that a file leaves behind it, and its long lines."""
    lines = (line.strip() for line in secret.splitlines())
    return {secret, secret.strip(), *(line for line in lines if len(line) >= LEAST_LINE)}


def _spellings(secret: str) -> tuple[str, ...]:
    """In JSON, in Python, in an address, and by itself in base64."""
    encoded = base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode()
    return (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, ""), encoded)
