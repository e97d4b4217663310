"""What a folder under the root of an `.ai` folder holds, and what an item there says of itself."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, Form, Kind
from pegboard.sources.folder.bundle import is_part
from pegboard.sources.folder.python_tool import python_fields

SIDE = ".sig"
"""What a side file's name adds to the name of the document that it signs."""


class Layout(NamedTuple):
    """How the items of one folder under the root are found."""

    kind: Kind
    form: Form
    document: str = ""
    """The file that makes a folder one item."""
    single: str = ""
    """How the name of a file ends that is an item by itself."""
    missing: str = ""
    """What a folder is refused with that should have a document, and has none."""
    passed_over: re.Pattern[str] = re.compile("", re.IGNORECASE)
    """Names of files that make no folder an item: they are for people."""


README = re.compile(r"(readme|licen[cs]e)(\.\w+)?", re.IGNORECASE)
_NOTES = re.compile(rf"{README.pattern}|.*\.(md|rst)|(?!requirements).*\.txt", re.IGNORECASE)
SCRIPTS, TOOLS = "scripts", "tools"
_TOOLS = Layout(Kind.TOOL, Form.MANIFEST, "tool.yaml", ".py", "no_manifest", _NOTES)
LAYOUTS: Mapping[str, Layout] = {
    "directives": Layout(Kind.DIRECTIVE, Form.DIRECTIVE, single=".md"),
    "knowledge": Layout(Kind.KNOWLEDGE, Form.KNOWLEDGE, single=".md"),
    SCRIPTS: _TOOLS,
    "skills": Layout(Kind.SKILL, Form.SKILL, "SKILL.md", "", "no_skill", README),
    TOOLS: _TOOLS,
}


class Place(NamedTuple):
    """A folder at or below a layout."""

    layout: str
    parts: tuple[str, ...] = ()
    linked: bool = False
    """Whether a link led here."""

    @property
    def origin(self) -> str:
        return "/".join((self.layout, *self.parts))


class Read(NamedTuple):
    """An item that has been read and not looked at yet."""

    origin: str
    above: Place
    """Its category."""
    name: str
    form: Form
    files: tuple[ItemFile, ...]
    document: str
    """The file that says what it is."""
    signature: bytes

    @property
    def content(self) -> bytes:
        return next(file.content for file in self.files if file.path == self.document)


def candidate_of(read: Read, source: str, namespace: str, digest: str = "") -> Candidate:
    """Raises `Unfit` for a Python file that is no tool."""
    above, document = read.above, read.content
    said: dict[str, object] = {}
    if read.form is Form.FIELDS:
        said = python_fields(document, read.document, above.parts)
        document = b""
    fields = said | {
        "id": f"{above.layout}:{'/'.join(above.parts)}:{read.name}",
        "kind": LAYOUTS[above.layout].kind.value,
        "namespace": namespace,
        "name": read.name,
        "category": above.parts[0] if above.parts else said.get("category", ""),
        "subcategory": "/".join(above.parts[1:]),
        "source_protocol": above.layout,
        "signable": True,
    }
    return Candidate(
        source=source,
        origin=read.origin,
        origin_hash=digest,
        fields=fields,
        files=read.files,
        form=read.form,
        document=document,
        signature=read.signature,
    )


def read_at(
    path: str, folder: bool, files: tuple[ItemFile, ...], signature: bytes = b""
) -> Read | None:
    """An item as it would lie at this path of an `.ai` folder; None if its document is not there.

    `folder` says whether the path is a folder of files, or the only file.
    """
    layout, *parts, last = path.split("/")
    kind = LAYOUTS[layout]
    document = kind.document if folder else last
    name = last if folder else last.removesuffix(kind.single)
    single_tool = not folder and kind.kind is Kind.TOOL
    fits = bool(kind.document) if folder else bool(kind.single) and last.endswith(kind.single)
    if kind.single == ".md" and README.fullmatch(last):
        return None
    if not fits or (not folder and len(files) != 1):
        return None
    paths = {file.path for file in files}
    if document not in paths or f"{document}{SIDE}" in paths or not all(map(is_part, paths)):
        return None  # a folder would be read as something else
    form = Form.FIELDS if single_tool else kind.form
    return Read(path, Place(layout, tuple(parts)), name, form, files, document, signature)
