"""Paths as they were sent: a slash inside an id, written as %2F, separates nothing."""

import re
from urllib.parse import unquote

from starlette.types import Scope

from pegboard.serve.http.problems import Declined

_INSIDE = "\udc2f"
"""Stands for a slash inside of a part: no path can have it, whatever bytes it is made of."""
_SPELLED = "pegboard.spelled"
_NAMES = re.compile(r"\{(\w+)\}")


def spelled(scope: Scope) -> str:
    """The path, decoded part by part. Bytes that are no UTF-8 are kept for `decoded` to refuse."""
    found: str | None = scope.get(_SPELLED)
    if found is None:
        raw: bytes = scope.get("raw_path") or b""
        sent = raw.partition(b"?")[0].decode("latin-1")
        root = str(scope.get("root_path", ""))
        parts = (sent.removeprefix(root) if sent else str(scope["path"])).split("/")
        found = scope[_SPELLED] = "/".join(map(_part, parts))
    return found


def _part(text: str) -> str:
    return unquote(text, errors="surrogateescape").replace("/", _INSIDE)


def pattern(path: str) -> re.Pattern[str]:
    """What matches a route's path. A name in braces takes at least a letter, also with slashes."""
    pieces = _NAMES.split(path)
    texts, names = pieces[::2], pieces[1::2]
    made = "".join(
        re.escape(text) + (f"(?P<{name}>.+)" if name else "")
        for text, name in zip(texts, [*names, ""], strict=True)
    )
    return re.compile(made, re.DOTALL)


def decoded(found: re.Match[str]) -> dict[str, str]:
    """What stands for the names. Raises `Declined` for what is no text."""
    values = {name: value.replace(_INSIDE, "/") for name, value in found.groupdict().items()}
    for name, value in values.items():
        if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise Declined(
                "malformed", f"the {name} in the path is not UTF-8", "encode it as UTF-8"
            )
    return values
