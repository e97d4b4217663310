"""An item as a row of SQLite, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from pegboard.store.sqlite.database import Value

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
    "drift_at",
    "approved_hash",
    "content_hash",
    "text_version",
    "imported_description",
    "description_source",
    "override_at",
    "override_by",
    "download_count",
    "quality_score",
    "success_rate",
    "estimated_cost_usd",
    "created_at",
    "updated_at",
)


def as_json(value: Sequence[str] | Json, empty: str) -> str:
    if not value:
        return empty  # most are, and this is a hundred times quicker
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False)


def item_params(item: Item) -> dict[str, Value]:
    params: dict[str, Value] = {name: getattr(item, name) for name in _PLAIN}
    params |= {name: as_json(getattr(item, name), "[]") for name in _LISTS}
    params |= {name: as_json(getattr(item, name), "{}") for name in _OBJECTS}
    params["kind"] = item.kind.value
    params["tool_type"] = item.tool_type.value if item.tool_type else None
    params["visibility"] = item.visibility.value
    params["official"] = int(item.official)
    params["scope"] = item.scope
    params["short_name"] = item.short_name
    params["latest_version"] = item.version.version if item.version else None
    params["signature"] = json.dumps(item.signature._asdict()) if item.signature else None
    return params


def entry_from(row: Mapping[str, Any]) -> Entry:
    """The entry of a row, without its version: that is read only when somebody asks for it."""
    with _readable(row["id"]):
        return _entry(row)


def definition_from(row: Mapping[str, Any]) -> Json:
    with _readable(row["id"]):
        return _object(row["definition"])


@contextmanager
def _readable(item_id: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError) as error:
        raise BoardCorrupt(
            f"the row of {item_id!r} cannot be read ({error})", "check with: pegboard doctor"
        ) from error


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
            files=tuple(_file(file) for file in files),
        )


def _list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))  # most are empty


def _object(text: str) -> Json:
    if text == "{}":
        return {}
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{text[:60]} is no JSON object")
    return found


def _file(row: Mapping[str, Any]) -> ItemFile:
    return ItemFile(
        path=row["path"],
        content=row["content"],
        sha256=row["sha256"],
        media_type=row["media_type"],
        executable=bool(row["executable"]),
    )


def _entry(row: Mapping[str, Any]) -> Entry:
    return Entry(
        key=row["key"],
        item=_item(row),
        embedding=EmbeddingState(
            status=EmbeddingStatus(row["embedding_status"]),
            source_hash=row["source_hash"],
            model=row["embedding_model"],
            dimension=row["embedding_dimension"],
            embedded_at=row["embedded_at"],
            error=row["embedding_error"],
        ),
        active=bool(row["active"]),
        drift=Drift(row["drift"]),
        manual_override=bool(row["manual_override"]),
        **{name: row[name] for name in _BOARD_ONLY},
    )


def _item(row: Mapping[str, Any]) -> Item:
    values = {name: row[name] for name in _PLAIN}
    values |= {name: _list(row[name]) for name in _LISTS}
    values |= {name: _object(row[name]) for name in _OBJECTS}
    signature = row["signature"]
    return Item(
        kind=Kind(row["kind"]),
        tool_type=ToolType(row["tool_type"]) if row["tool_type"] else None,
        visibility=Visibility(row["visibility"]),
        official=bool(row["official"]),
        signature=Signature(**json.loads(signature)) if signature else None,
        **values,
    )
