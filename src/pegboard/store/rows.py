"""An item as the columns of a row, and back; each store has its own way to keep values."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pegboard.errors import BoardCorrupt
from pegboard.model.content import (
    Access,
    ItemFile,
    Json,
    Link,
    Permission,
    Resource,
    Signature,
    Version,
)
from pegboard.model.items import (
    Drift,
    EmbeddingState,
    EmbeddingStatus,
    Entry,
    Item,
    Kind,
    ToolType,
    Visibility,
)
from pegboard.quality import cost, quality

log = logging.getLogger(__name__)

LONGEST_ORIGIN = 600
"""Characters: an index entry of PostgreSQL has a bound on its size."""

LISTS = ("tags", "aliases", "tech_stack", "examples", "keywords", "target_personas", "skills")
OBJECTS = ("input_schema", "output_schema", "executor")
RECORDS = ("links", "permissions")
PLAIN = (
    "id",
    "namespace",
    "name",
    "title",
    "description",
    "category",
    "subcategory",
    "body",
    "author",
    "source",
    "origin",
    "origin_hash",
    "source_protocol",
    "endpoint",
    "routing_domain",
    "semantic_namespace",
    "sensitivity_tier",
    "semantic_weight",
    "replacement",
)
INDEXED = (
    *("id", "namespace", "kind", "name", "title", "description", "category", "subcategory"),
    *("tags", "aliases", "keywords", "source", "endpoint", "executor", "input_schema", "body"),
    "visibility",
)
"""Columns that index terms, ranking cards and spelling are made of.

A migration that fills them reads only these: columns of later migrations do not exist yet.
"""
_BOARD_ONLY = (
    "approved_hash",
    "content_hash",
    "text_version",
    "imported_description",
    "description_source",
    "override_by",
    "tags_override_by",
    "off_by",
    "off_reason",
    "download_count",
    "success_rate",
    "counted_runs",
)
_TIMES = ("drift_at", "override_at", "tags_override_at", "off_at", "created_at", "updated_at")


def _figures(item: Item, row: Mapping[str, Any]) -> dict[str, Any]:
    """Those that somebody gave, and else what the item itself comes to."""
    rated, price = row["quality_score"], row["estimated_cost_usd"]
    own = quality(item, row["success_rate"], row["counted_runs"]) if rated is None else rated
    return {
        "rating": rated,
        "quality_score": own,
        "estimated_cost_usd": cost(item) if price is None else price,
    }


def plain_values(item: Item) -> dict[str, Any]:
    """What every store keeps in the same way; lists, objects, records and signature are its own."""
    values = {name: getattr(item, name) for name in PLAIN}
    return values | {
        "kind": item.kind.value,
        "tool_type": item.tool_type.value if item.tool_type else None,
        "visibility": item.visibility.value,
        "official": item.official,
        "deprecated": item.deprecated,
        "scope": item.scope,
        "short_name": item.short_name,
        "latest_version": item.version.version if item.version else None,
    }


class Reader(NamedTuple):
    """How a store's values become ours again."""

    strings: Callable[[Any], tuple[str, ...]]
    object: Callable[[Any], Json]
    records: Callable[[Any], Sequence[Json]]
    seconds: Callable[[Any], float | None]

    def entry(self, row: Mapping[str, Any]) -> Entry:
        """The entry of a row, without its version: that is read only when somebody asks for it."""
        with readable(row["id"]):
            times: dict[str, Any] = {name: self.seconds(row[name]) for name in _TIMES}
            item, imported_tags = self._item(row), row["imported_tags"]
            if retagged := imported_tags is not None:
                imported_tags = _texts("imported_tags", self.strings(imported_tags))
            return Entry(
                key=row["key"],
                item=item,
                imported_tags=imported_tags if retagged else item.tags,
                tags_override=retagged,
                embedding=EmbeddingState(
                    status=EmbeddingStatus(row["embedding_status"]),
                    source_hash=row["source_hash"],
                    model=row["embedding_model"],
                    dimension=row["embedding_dimension"],
                    embedded_at=self.seconds(row["embedded_at"]),
                    error=row["embedding_error"],
                ),
                active=bool(row["active"]),
                drift=Drift(row["drift"]),
                manual_override=bool(row["manual_override"]),
                version=row["latest_version"] or "",
                version_hash=row.get("version_hash") or "",
                **_figures(item, row),
                **times,
                **{name: row[name] for name in _BOARD_ONLY},
            )

    def entries(self, rows: Iterable[Mapping[str, Any]]) -> dict[int, Entry]:
        """By key; a row that cannot be read is left out, so that it ends no search but its own."""
        found: dict[int, Entry] = {}
        for row in rows:
            try:
                found[row["key"]] = self.entry(row)
            except BoardCorrupt as error:
                log.warning("a search left out what it cannot show: %s", error)
        return found

    def definition(self, row: Mapping[str, Any]) -> Json:
        with readable(row["id"]):
            return self.object(row["definition"])

    def version(
        self, item_id: str, row: Mapping[str, Any], files: Sequence[Mapping[str, Any]]
    ) -> Version:
        with readable(item_id):
            return Version(
                version=row["version"],
                content_hash=row["content_hash"],
                manifest=self.object(row["manifest"]),
                manifest_text=row["manifest_text"],
                changelog=row["changelog"],
                files=tuple(_file(file) for file in files),
                release=row["release"],
                side_file=row["side_file"],
            )

    def _item(self, row: Mapping[str, Any]) -> Item:
        values: dict[str, Any] = {name: row[name] for name in PLAIN}
        values |= {name: _texts(name, self.strings(row[name])) for name in LISTS}
        values |= {name: self.object(row[name]) for name in OBJECTS}
        signed: Any = self.object(row["signature"]) if row["signature"] else None
        return Item(
            kind=Kind(row["kind"]),
            tool_type=ToolType(row["tool_type"]) if row["tool_type"] else None,
            visibility=Visibility(row["visibility"]),
            official=bool(row["official"]),
            deprecated=bool(row["deprecated"]),
            links=tuple(_link(each) for each in self.records(row["links"])),
            permissions=tuple(_permission(each) for each in self.records(row["permissions"])),
            signature=Signature(**signed) if signed else None,
            **values,
        )


def indexed_item(row: Mapping[str, Any]) -> Item:
    """Return an item with the `INDEXED` columns of a row; its other fields have their defaults."""
    values = {name: row[name] for name in INDEXED}
    values |= {name: tuple(row[name]) for name in INDEXED if name in LISTS}
    return Item(**values | {"kind": Kind(row["kind"]), "visibility": Visibility(row["visibility"])})


def record_of(said: Link | Permission) -> dict[str, str]:
    """As it is kept; a link that takes any version says nothing of versions."""
    found = said._asdict()
    return found if found.get("range", "*") else {k: v for k, v in found.items() if k != "range"}


def kept_text(text: str) -> str:
    """The text with a mark in place of whatever a database cannot hold."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def beginning(text: str) -> str:
    """As much as a database can hold, to go on from: nothing that comes after it is passed over."""
    return re.split("[\0\ud800-\udfff]", text, maxsplit=1)[0]


def kept_origin(origin: str) -> str:
    """The origin, or as much of it as a database can keep and tell from others."""
    if len(origin) <= LONGEST_ORIGIN and is_storable(origin):
        return origin
    digest = hashlib.sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept_text(origin)[:LONGEST_ORIGIN]} ({digest[:16]})"


def is_storable(*texts: str | None) -> bool:
    """Whether a database can hold all of these texts: what it cannot hold is not found in it."""
    return all("\0" not in text and _is_unicode(text) for text in texts if text is not None)


def storable(texts: Sequence[str]) -> list[str]:
    """Those that it can hold."""
    return [text for text in texts if is_storable(text)]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def readable(item_id: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BoardCorrupt(
            f"the row of {item_id!r} cannot be read ({error})", "check with: pegboard doctor"
        ) from error


def _texts(name: str, found: tuple[Any, ...]) -> tuple[str, ...]:
    try:
        "".join(found)
    except TypeError:
        raise TypeError(f"{name} has something in it that is no text") from None
    return found


def _link(said: Json) -> Link:
    return Link(**_texts_of("a link", said))


def _permission(said: Json) -> Permission:
    found = Permission(**_texts_of("a permission", said))
    return found._replace(access=Access(found.access), resource=Resource(found.resource))


def _texts_of(name: str, said: Json) -> dict[str, Any]:
    _texts(name, tuple(said.values()))
    return dict(said)


def _file(row: Mapping[str, Any]) -> ItemFile:
    return ItemFile(
        path=row["path"],
        content=bytes(row["content"]),
        sha256=row["sha256"],
        media_type=row["media_type"],
        executable=bool(row["executable"]),
    )
