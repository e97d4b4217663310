"""Items as they are told: everything but the number of a row, which would count what is hidden."""

import base64
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from pegboard.board.curate.editing import etag
from pegboard.model.answers import Answer, RequestHits
from pegboard.model.content import ItemFile
from pegboard.model.curation import Tie
from pegboard.model.items import Drift, EmbeddingStatus, Entry, ItemId, Kind, ToolType, Visibility
from pegboard.model.runs import RunCounts
from pegboard.serve.http.shapes import Record, fields_of

FILE = Record(
    "ItemFile",
    {**fields_of(ItemFile, but=["content"]), "size": int, "content": str, "base64": str},
    optional=frozenset({"content", "base64"}),
)
ITEM = Record(
    "Entry",
    {"etag": str, **fields_of(Entry, but=["key"]), "ties": tuple[Tie, ...], "runs": RunCounts},
    optional=frozenset({"ties", "runs"}),
)
ANSWER = Record(
    "Answer",
    {**fields_of(Answer, but=["requests"]), "requests": tuple[RequestHits, ...]},
    optional=frozenset({"requests"}),
)
INSTEAD: dict[type, Record] = {ItemFile: FILE, Entry: ITEM, Answer: ANSWER}


class Line(NamedTuple):
    """An item in a list."""

    id: ItemId
    namespace: str
    kind: Kind
    name: str
    title: str
    description: str
    category: str
    subcategory: str
    tags: tuple[str, ...]
    tool_type: ToolType | None
    source: str
    author: str
    visibility: Visibility
    deprecated: bool
    replacement: str
    active: bool
    drift: Drift
    embedding: EmbeddingStatus
    created_at: float
    updated_at: float
    etag: str


def line(entry: Entry) -> Line:
    item = entry.item
    return Line(
        id=item.id,
        namespace=item.namespace,
        kind=item.kind,
        name=item.name,
        title=item.title,
        description=item.description,
        category=item.category,
        subcategory=item.subcategory,
        tags=item.tags,
        tool_type=item.tool_type,
        source=item.source,
        author=item.author,
        visibility=item.visibility,
        deprecated=item.deprecated,
        replacement=item.replacement,
        active=entry.active,
        drift=entry.drift,
        embedding=entry.embedding.status,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        etag=etag(entry),
    )


def shown(
    entry: Entry,
    ties: Sequence[Tie] | None = None,
    runs: RunCounts | None = None,
    *,
    contents: bool = False,
) -> dict[str, object]:
    """All about an item; what its files say only where that is asked for."""
    told = {name: each for name, each in entry._asdict().items() if name != "key"}
    item = entry.item._asdict()
    if version := entry.item.version:
        files = [told_file(each, contents) for each in version.files]
        item["version"] = version._asdict() | {"files": files}
    told |= {"etag": etag(entry), "item": item}
    return told | {
        name: each for name, each in (("ties", ties), ("runs", runs)) if each is not None
    }


def told_file(file: ItemFile, contents: bool) -> dict[str, object]:
    """Text as it is; bytes that are none are also told exactly."""
    told = {name: each for name, each in file._asdict().items() if name != "content"}
    told["size"] = len(file.content)
    if contents:
        text = file.content.decode("utf-8", "replace")
        told["content"] = text
        if text.encode() != file.content:
            told["base64"] = base64.b64encode(file.content).decode()
    return told


def place_of(entry: Entry) -> str:
    """Where an item is to be found here, whatever else has its id."""
    item = entry.item
    under = "tools" if item.kind is Kind.TOOL else "items"
    return f"/{under}/{quote(item.reference, safe=':')}"
