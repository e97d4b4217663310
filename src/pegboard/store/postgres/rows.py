"""An item as a row of PostgreSQL, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from pegboard.errors import BoardCorrupt
from pegboard.model import (
    Drift,
    EmbeddingState,
    EmbeddingStatus,
    Entry,
    Item,
    ItemFile,
    Json,
    Kind,
    Signature,
    ToolType,
    Version,
    Visibility,
)

_LISTS = ("tags", "aliases", "tech_stack", "examples", "keywords", "target_personas", "skills")
_OBJECTS = ("input_schema", "output_schema", "executor")
_PLAIN = (
    "id",
    "namespace",
    "name",
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
)
_BOARD_ONLY = (
    "approved_hash",
    "content_hash",
    "text_version",
    "imported_description",
    "description_source",
    "manual_override",
    "override_by",
    "download_count",
    "quality_score",
    "success_rate",
    "estimated_cost_usd",
)
_TIMES = ("drift_at", "override_at", "created_at", "updated_at")


def item_values(item: Item) -> dict[str, object]:
    """What the columns of an item get, ready to be sent as JSON."""
    values: dict[str, object] = {name: getattr(item, name) for name in _PLAIN}
    values |= {name: list(getattr(item, name)) for name in _LISTS}
    values |= {name: dict(getattr(item, name)) for name in _OBJECTS}
    return values | {
        "kind": item.kind.value,
        "tool_type": item.tool_type.value if item.tool_type else None,
        "visibility": item.visibility.value,
        "official": item.official,
        "scope": item.scope,
        "short_name": item.short_name,
        "latest_version": item.version.version if item.version else None,
        "signature": item.signature._asdict() if item.signature else None,
    }


def as_rows(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as the JSON array that `json_to_recordset` takes: one statement for all of them."""
    return json.dumps(list(rows), ensure_ascii=False, default=dict)


def sayable(texts: Sequence[str]) -> list[str]:
    """Those of these texts that the database could hold: no other can be found in it."""
    return [text for text in texts if "\0" not in text and _is_unicode(text)]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def entry_from(row: Mapping[str, Any]) -> Entry:
    """The entry of a row, without its version: that is read only when somebody asks for it."""
    with _readable(row["id"]):
        times: dict[str, Any] = {name: seconds(row[name]) for name in _TIMES}
        plain: dict[str, Any] = {name: row[name] for name in _BOARD_ONLY}
        return Entry(
            key=row["key"],
            item=_item(row),
            embedding=EmbeddingState(
                status=EmbeddingStatus(row["embedding_status"]),
                source_hash=row["source_hash"],
                model=row["embedding_model"],
                dimension=row["embedding_dimension"],
                embedded_at=seconds(row["embedded_at"]),
                error=row["embedding_error"],
            ),
            active=row["active"],
            drift=Drift(row["drift"]),
            **times,
            **plain,
        )


def definition_from(row: Mapping[str, Any]) -> Json:
    with _readable(row["id"]):
        return _object(row["definition"])


def version_from(
    item_id: str, row: Mapping[str, Any], files: Sequence[Mapping[str, Any]]
) -> Version:
    with _readable(item_id):
        return Version(
            version=row["version"],
            content_hash=row["content_hash"],
            manifest=_object(row["manifest"]),
            manifest_text=row["manifest_text"],
            changelog=row["changelog"],
            files=tuple(
                ItemFile(
                    path=file["path"],
                    content=bytes(file["content"]),
                    sha256=file["sha256"],
                    media_type=file["media_type"],
                    executable=file["executable"],
                )
                for file in files
            ),
        )


@contextmanager
def _readable(item_id: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise BoardCorrupt(
            f"the row of {item_id!r} cannot be read ({error})", "check with: pegboard doctor"
        ) from error


def _object(found: object) -> Json:
    if not isinstance(found, dict):
        raise TypeError(f"{str(found)[:60]} is no JSON object")
    return found


def _item(row: Mapping[str, Any]) -> Item:
    values: dict[str, Any] = {name: row[name] for name in _PLAIN}
    values |= {name: tuple(row[name]) for name in _LISTS}
    values |= {name: _object(row[name]) for name in _OBJECTS}
    return Item(
        kind=Kind(row["kind"]),
        tool_type=ToolType(row["tool_type"]) if row["tool_type"] else None,
        visibility=Visibility(row["visibility"]),
        official=row["official"],
        signature=Signature(**row["signature"]) if row["signature"] else None,
        **values,
    )
