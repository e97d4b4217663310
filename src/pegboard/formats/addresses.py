"""Addresses and paths within a text that people read."""

import re

HIDDEN = "an address of its own"
HIDDEN_FILE = "a file of its own"

_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>()\[\]]*[^\s\"'<>()\[\].,:;]", re.IGNORECASE)
_PATH = re.compile(r"(?<![^\s\"'(])/[^\s\"'()]*[^\s\"'().,:;]")


def without_addresses(text: str) -> str:
    """For those outside: where a gateway finds what it talks to is no business of theirs."""
    return _ADDRESS.sub(HIDDEN, text)


def without_paths(text: str) -> str:
    """The same for where it keeps its files: paths from the root, not those within something."""
    return _PATH.sub(HIDDEN_FILE, text)
