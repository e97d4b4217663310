"""What an operation is called, and where it hangs."""

import hashlib
import re
from collections.abc import Iterable

from pegboard.sources.openapi.cleaning import cleaned, one_line

MAX_NAME = 120
MAX_CATEGORY = 100
_ILLEGAL = re.compile(r"[^\w./~-]+")
_VERSION = re.compile(r"api|apis|rest|v?\d[\w.-]*", re.IGNORECASE)
_CALL = re.compile(r"[a-z]+[A-Z]\w*|\w+\.\w.*")
"""A path such as `/sendMessage` or `/chat.postMessage` is a call and no collection of things."""


def from_path(method: str, path: str) -> str:
    """`GET /repos/{owner}` as `get_repos_owner`."""
    words = re.sub(r"\W+", "_", cleaned(path)).strip("_")
    return shortened(f"{method.lower()}_{words}" if words else method.lower())


def from_operation_id(text: str) -> str:
    """As it is, as far as it can stand in an id."""
    return shortened(_ILLEGAL.sub("_", one_line(text, 10_000)).strip("_"))


def shortened(name: str) -> str:
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def unique(operations: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """A name for each method and path, from the `operationId`.

    Of several with the same one, the first by path and method keeps it, wherever it stands; the
    others are told apart by what is always different, and so keep their names whatever else the
    document gains or loses.
    """
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for method, path, operation_id in sorted(operations, key=lambda each: (each[1], each[0])):
        name = from_operation_id(operation_id) or from_path(method, path)
        if name.casefold() in taken:
            digest = hashlib.sha256(f"{method} {path}".encode("utf-8", "surrogatepass"))
            name = shortened(f"{name}_{from_path(method, path)}")
            if name.casefold() in taken:
                name = f"{name[: MAX_NAME - 9]}_{digest.hexdigest()[:8]}"
        taken.add(name.casefold())
        names[method, path] = name
    return names


def category(tags: list[str], path: str) -> str:
    """The first tag, or the first part of the path that says what the operation is about."""
    if tags:
        return one_line(tags[0], MAX_CATEGORY)
    parts = [part for part in cleaned(path).split("/") if part and "{" not in part]
    telling = [part for part in parts if not _VERSION.fullmatch(part)]
    if not telling or (len(parts) == 1 and _CALL.fullmatch(telling[0])):
        return ""
    return one_line(telling[0].partition("?")[0], MAX_CATEGORY)
