"""Secrets taken out of texts."""

import base64
import json
import re
from collections.abc import Iterator, Set
from urllib.parse import quote, quote_plus

LEAST_SECRET = 4
"""Shorter values are not hidden: every message would lose its letters, and they protect nothing."""

LEAST_LINE = 16
"""A line of a secret that is at least so long, such as those of a key file, is one by itself."""

HIDDEN = "***"

_ESCAPE = re.compile("%[0-9A-F]{2}")


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


def _spellings(secret: str) -> Iterator[str]:
    """In JSON, in Python, in an address or a form, and by itself in base64."""
    yield from (secret, repr(secret)[1:-1])
    for ascii_only in (True, False):
        written = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield from (written, written.replace("/", "\\/"))
    content = secret.encode("utf-8", "surrogatepass")
    for quoted in (quote(content, ""), quote(content), quote_plus(content)):
        yield from (quoted, _ESCAPE.sub(lambda found: found[0].lower(), quoted))
    yield base64.b64encode(content).decode()
    yield base64.urlsafe_b64encode(content).decode()
