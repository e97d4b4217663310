"""Addresses within a text that people read."""

import re

HIDDEN = "an address of its own"

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>()\[\]]*[^\s\"'<>()\[\].,:;]", re.IGNORECASE)


def without_addresses(text: str) -> str:
    """For those outside: where a gateway finds what it talks to is no business of theirs."""
    return _ADDRESS.sub(HIDDEN, text)
