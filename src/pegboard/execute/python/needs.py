"""What a Python tool needs installed: told by its manifest, its requirements.txt and its file.

Only packages by name, with versions, extras, markers and hashes. An address, a path or an option
would bring in something from elsewhere than the index that the person chose.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pegboard.errors import NotExecutable
from pegboard.formats.script_block import BadScriptBlock, script_block
from pegboard.model.content import Json
from pegboard.model.items import Item

ENTRYPOINT = "main.py"
REQUIREMENTS = "requirements.txt"
MOST_REQUIREMENTS = 500
MOST_TEXT = 1 << 20

_HASH = re.compile(
    r"\s--hash=(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?=\s|$)"
)
_COMMENT = re.compile(r"(^|\s)#.*$")
_SHOWN = 200


class Needs(NamedTuple):
    requirements: tuple[str, ...] = ()
    """In one spelling and in order, each with its hashes, as pip and uv read them."""
    python: str = ""
    """The versions that it runs on, such as `>=3.11`."""


def entry_path(item: Item) -> str:
    """The file that it is run by."""
    said = item.executor.get("entrypoint")
    return said if isinstance(said, str) and said else ENTRYPOINT


def needs_of(item: Item, entrypoint: str) -> Needs:
    """Raises `NotExecutable`."""
    texts = {file.path: file.content for file in item.version.files} if item.version else {}
    inline = _inline(texts.get(entrypoint, b""))
    said = [*_texts(item.executor, "dependencies"), *_texts(inline, "dependencies")]
    lines = [*said, *_lines(texts.get(REQUIREMENTS, b""))]
    python = item.executor.get("requires_python") or inline.get("requires-python") or ""
    return Needs(_normalised(lines) if lines else (), str(python))


def check_python(wanted: str, version: str) -> None:
    """Raises `NotExecutable` if this version of Python is not one of those that are wanted."""
    if not wanted:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        fits = SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidSpecifier as error:
        raise NotExecutable(
            f"it says that it needs Python {wanted[:_SHOWN]!r}, which is no range of versions",
            'write something like requires_python: ">=3.11"',
        ) from error
    if not fits:
        raise NotExecutable(
            f"it needs Python {wanted[:_SHOWN]}, and Pegboard runs on {version}",
            "run Pegboard on such a Python",
        )


def _texts(said: Json, name: str) -> list[str]:
    found = said.get(name)
    if found is None:
        return []
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise NotExecutable(f"its {name} are no list of texts", 'write ["package>=1.0"]')
    return [str(each) for each in found]


def _inline(content: bytes) -> Json:
    try:
        return script_block(content.decode("utf-8-sig", "replace"))
    except BadScriptBlock as error:
        raise NotExecutable(error.message, error.hint) from error


def _lines(content: bytes) -> Iterator[str]:
    """Of a requirements.txt: a line may go on after a backslash, and `#` begins a comment."""
    if len(content) > MOST_TEXT:
        raise NotExecutable(
            f"its {REQUIREMENTS} has {len(content):,} bytes; at most {MOST_TEXT:,} are read",
            "leave out what it does not need itself",
        )
    text = content.decode("utf-8-sig", "replace")
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        if stripped := _COMMENT.sub("", line).strip():
            yield stripped


def _normalised(lines: Iterable[str]) -> tuple[str, ...]:
    found = sorted({_requirement(line) for line in lines})
    if len(found) > MOST_REQUIREMENTS:
        raise NotExecutable(
            f"it needs {len(found):,} packages; at most {MOST_REQUIREMENTS} are installed",
            "leave out what it does not need itself",
        )
    return tuple(found)


def _requirement(line: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    hashes = sorted(set(_HASH.findall(line)))
    said = " ".join(_HASH.sub(" ", line).split())
    try:
        requirement = Requirement(said)
        requirement.name = canonicalize_name(requirement.name)
        written = str(requirement)
    except (InvalidRequirement, RecursionError, ValueError) as error:
        raise _refused(line) from error
    # What is written is not always what was said: escapes in the quotes of a marker are read.
    if requirement.url is not None or not all(map(_is_one_line, (said, written))):
        raise _refused(line)
    return " ".join([written, *(f"--hash={each}" for each in hashes)])


def _is_one_line(text: str) -> bool:
    """To an installer too: not an option, a variable, a comment or a line of its own in quotes."""
    return text.isprintable() and not any(each in text for each in (" -", "$", "#", "\\"))


def _refused(line: str) -> NotExecutable:
    what = "option" if line.startswith("-") else "requirement"
    return NotExecutable(
        f"the {what} {line[:_SHOWN]!r} is not allowed for tools",
        "name packages, with versions if need be, as in httpx>=0.27; no addresses, paths or"
        " options but --hash",
    )
