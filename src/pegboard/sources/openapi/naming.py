"""What an operation is called, and where it hangs."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from pegboard.sources.openapi.cleaning import cleaned, one_line

MAX_NAME = 120
MAX_CATEGORY = 100
_PATH_PART = re.compile(r"\{(?P<variable>[^{}]*)\}|(?P<literal>[^{}]+|[{}])")
_ILLEGAL = re.compile(r"[^\w./~-]+")
_VERSION = re.compile(r"api|apis|rest|v?\d[\w.-]*", re.IGNORECASE)
_CALL = re.compile(r"[a-z]+[A-Z]\w*|\w+\.\w.*")
"""A path such as `/sendMessage` or `/chat.postMessage` is a call and no collection of things."""


def from_path(method: str, path: str, *, variables: bool = False) -> str:
    """Name an operation by the words of its path.

    A variable at the end distinguishes one thing from all of them; other variables count only with
    `variables`.

    >>> from_path("get", "/repos/{owner}/issues")
    'get_repos_issues'
    >>> from_path("get", "/repos/{owner}/issues", variables=True)
    'get_repos_owner_issues'
    >>> from_path("get", "/users/{id}")
    'get_users_by_id'
    """
    parts = [method.lower()]
    path = cleaned(path).rstrip("/")
    for found in _PATH_PART.finditer(path):
        if found["literal"]:
            parts.append(_worded(found["literal"]))
        elif found.end() == len(path):
            parts += ["by", _worded(found["variable"])]
        elif variables:
            parts.append(_worded(found["variable"]))
    return shortened("_".join(filter(None, parts)))


def _worded(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")


def from_operation_id(text: str) -> str:
    """As it is, as far as it can stand in an id."""
    return shortened(_ILLEGAL.sub("_", one_line(text, 10_000)).strip("_"))


def shortened(name: str) -> str:
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def unique(operations: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """Return a name for each method and path: the `operationId`, or else the words of the path.

    Operations are named in the order of their paths, wherever they stand in the document, those
    with an `operationId` first. Of several with the same one, the first keeps it; the others get
    method and path appended. Operations without one that would share a name get the variables of
    their paths, all of them, so that no name depends on the order.
    """
    ordered = sorted(operations, key=lambda each: (each[1], each[0]))
    said = {(method, path): from_operation_id(text) for method, path, text in ordered}
    short = {each: from_path(*each) for each, name in said.items() if not name}
    times = Counter(name.casefold() for name in short.values())
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for method, path in sorted(said, key=lambda each: not said[each]):  # stable
        full = from_path(method, path, variables=True)
        name = said[method, path] or short[method, path]
        choices = [name, shortened(f"{name}_{full}")]
        if not said[method, path]:
            choices = [full] if times[name.casefold()] > 1 else [name, full]
        free = (each for each in choices if each.casefold() not in taken)
        names[method, path] = next(free, None) or _with_digest(choices[-1], method, path)
        taken.add(names[method, path].casefold())
    return names


def _with_digest(name: str, method: str, path: str) -> str:
    digest = hashlib.sha256(f"{method} {path}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: MAX_NAME - 9]}_{digest}"


def category(tags: list[str], path: str) -> str:
    """The first tag, or the first part of the path that says what the operation is about."""
    if tags:
        return one_line(tags[0], MAX_CATEGORY)
    parts = [part for part in cleaned(path).split("/") if part and "{" not in part]
    telling = [part for part in parts if not _VERSION.fullmatch(part)]
    if not telling or (len(parts) == 1 and _CALL.fullmatch(telling[0])):
        return ""
    return one_line(telling[0].partition("?")[0], MAX_CATEGORY)
