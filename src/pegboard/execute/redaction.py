"""Secrets taken out of texts."""

import base64
import json
import re
from collections.abc import Set
from urllib.parse import quote

LEAST_SECRET = 4
"""Shorter values are not hidden: every message would lose its letters, and they protect nothing."""

HIDDEN = "***"


def redacted(text: str, secrets: Set[str]) -> str:
    """The text without any of these values, as they are or as others may write them."""
    spellings = {
        spelling
        for secret in secrets
        if len(secret) >= LEAST_SECRET
        for spelling in _spellings(secret)
    }
    if not spellings:
        return text
    longest_first = sorted(spellings, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text)


def _spellings(secret: str) -> tuple[str, ...]:
    """In JSON, in Python, in an address, and by itself in base64."""
    encoded = base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode()
    return (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, ""), encoded)
