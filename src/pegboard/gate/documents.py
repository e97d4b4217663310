"""What the readers of documents share: text from bytes, front matter, and where an item stands."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.formats import semver, strict_yaml
from pegboard.gate.characters import first_forbidden
from pegboard.gate.excerpts import title_of
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, shown
from pegboard.model.content import Json
from pegboard.model.items import Candidate
from pegboard.text import clipped, name_key

_FENCE = re.compile(r"---[ \t]*\r?(?:\n|\Z)")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)


class Page(NamedTuple):
    """A Markdown file, taken apart."""

    text: str
    """The whole of it, as written."""
    front: Mapping[str, object]
    body: str


def read_text(candidate: Candidate, limits: Limits) -> str:
    """The document as text, exactly as it is written."""
    document = candidate.document
    if len(document) > limits.document_bytes:
        raise Refused(
            "too_large",
            f"the document has {len(document):,} bytes;"
            f" at most {limits.document_bytes:,} are allowed",
        )
    try:
        text = document.decode("utf-8")
    except UnicodeDecodeError as error:
        line = document.count(b"\n", 0, error.start) + 1
        reason = f"line {line}: a byte there is not UTF-8; save the file as UTF-8"
        raise Refused("not_utf8", reason) from error
    if text.startswith("\ufeff"):
        raise Refused(
            "hidden_characters",
            "the file begins with a byte order mark, U+FEFF; save it as UTF-8 without one",
        )
    if forbidden := first_forbidden(text):
        line = _line_of(text)
        raise Refused(
            "hidden_characters",
            f"line {line} contains {forbidden}, which a reader cannot see; remove it",
        )
    return text


def _line_of(text: str) -> int:
    """The first line that has a forbidden character."""
    lines = enumerate(text.split("\n"), 1)
    return next((number for number, line in lines if first_forbidden(line)), 1)


def read_yaml(text: str, limits: Limits, *, above: int = 0) -> Mapping[str, object]:
    """A mapping. `above` lines of the file come before the text, for the places of errors."""
    try:
        found = strict_yaml.load(text, max_nodes=limits.values)
    except strict_yaml.YamlError as error:
        where = f"line {error.line + above}, column {error.column}"
        raise Refused("bad_yaml", f"{where}: {error.problem}") from error
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Refused(
            "bad_yaml", f"line {above + 1}: it holds {shown(found)}; write keys with their values"
        )
    return found


def read_page(candidate: Candidate, limits: Limits) -> Page:
    text = read_text(candidate, limits)
    begins = _FENCE.match(text)
    if begins is None:
        return Page(text, {}, text)
    ends = _END.search(text, begins.end())
    if ends is None:
        reason = "line 1: the front matter has no end; close it with a line of ---"
        raise Refused("bad_yaml", reason)
    front = read_yaml(text[begins.end() : ends.start()], limits, above=1)
    return Page(text, front, text[ends.end() :].lstrip("\r\n"))


def words(name: str, found: object) -> list[object]:
    """A list, or a text with commas between its words."""
    if found is None:
        return []
    if isinstance(found, str):
        return [word.strip() for word in found.split(",") if word.strip()]
    if isinstance(found, list):
        return found
    raise Refused("bad_type", f"{name} is {shown(found)}; it must be a list of texts")


def semantic(found: object) -> str | None:
    """A version such as 1.2.3; `2` and "2.1" are filled up.

    A number such as 1.10 cannot be: YAML does not tell it from 1.1.
    """
    if found is None:
        return None
    text = str(found) if isinstance(found, int) and not isinstance(found, bool) else found
    for number in (text, f"{text}.0", f"{text}.0.0") if isinstance(text, str) else ():
        if semver.parse(number):
            return number
    quotes = ", in quotes" if isinstance(found, float) else ""
    raise Refused("bad_version", f"version is {shown(found)}; write it as 1.2.3{quotes}")


def document_title(front: Mapping[str, object], text: str, name: str, limits: Limits) -> str:
    """Return the title in the front matter or else the first heading of the text, on one line.

    Return an empty string if the document has neither or the title only repeats the name.
    """
    said = front.get("title")
    found = said if isinstance(said, str) and said.strip() else title_of(text)
    title = clipped(" ".join(found.split()), limits.title)
    return "" if name_key(title) == name_key(name) else title


def settle_category(
    fields: Json, category: object, subcategory: object = None
) -> dict[str, object]:
    """Where the item stands. What a document says of it has to be what its folder says.

    Directly in the folder of its layout it stands nowhere, so there the document decides.
    """
    folder = [part for part in (fields.get("category"), fields.get("subcategory")) if part]
    said = [part for part in (category, subcategory) if part]
    for part in said:
        if not isinstance(part, str):
            raise Refused("bad_type", f"category is {shown(part)}; it must be text")
    place = "/".join(map(str, folder))
    meant = "/".join(map(str, said)).strip("/")
    if not meant or meant in (place, folder[0] if folder else ""):
        return {}
    if folder:
        raise Refused(
            "wrong_category",
            f"it says that its category is {shown(meant)}, and its folder is {shown(place)};"
            " change one of them",
        )
    first, _, rest = meant.partition("/")
    return {"category": first, "subcategory": rest}
