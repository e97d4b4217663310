"""What is wrong with one thing that a source found."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


class Unfit(Exception):
    """Carries code and reason from where it was noticed to the rejection."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def is_writable(text: str) -> bool:
    """Whether UTF-8 can write it, which is not true of all that JSON can escape."""
    return not _SURROGATE.search(text)
