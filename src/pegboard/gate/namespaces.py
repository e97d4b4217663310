"""What a namespace may be called."""

import re

_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}(/[a-z0-9][a-z0-9_.-]{0,62})?")

NAMESPACE_RULE = (
    "it takes lower-case letters, digits, '-', '_' and '.', and at most one '/', as in user/team"
)


def is_namespace(text: str) -> bool:
    return _NAMESPACE.fullmatch(text) is not None
