"""The versions of items in SQLite, as `pegboard.store.versioning` has them."""

from collections.abc import Mapping

import apsw

from pegboard.model.content import ItemFile, Version
from pegboard.model.items import Item
from pegboard.store.planning import Existing
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Value
from pegboard.store.sqlite.rows import as_json
from pegboard.store.versioning import MOST_VERSIONS

SQL = load("sqlite", "versions")


def known_versions(tx: apsw.Connection, key: int) -> dict[str, str]:
    """The content hash of each, by number."""
    rows = tx.execute(SQL["known"], {"key": key})
    return {str(number): str(content_hash) for number, content_hash in rows}


def write_version(
    tx: apsw.Connection,
    key: int,
    item: Item,
    existing: Existing | None,
    now: float,
    lying: Mapping[str, str],
    by: str | None = None,
) -> None:
    """The version that an item is put with, and what becomes of those that it has."""
    params = _params(key, item, now, by)
    there = None
    if existing is not None:
        elsewhere = existing.source != item.source
        tx.execute(SQL["drop"], params | {"elsewhere": int(elsewhere)})
        there = tx.execute(SQL["there"], params).fetchone()
    if there and item.version is not None:
        tx.execute(SQL["drop_files"], {"version_key": there[0]})
        _add_files(tx, int(there[0]), item.version, lying)
    elif item.version is not None:
        add_version(tx, key, item, now, lying, by)
    if existing is not None:
        tx.execute(SQL["drop_oldest"], params | {"most": MOST_VERSIONS})


def add_version(
    tx: apsw.Connection,
    key: int,
    item: Item,
    now: float,
    lying: Mapping[str, str],
    by: str | None,
) -> None:
    """One more, beside those that there are; `by` is who publishes it, if it is published."""
    if item.version is not None:
        version_key = tx.execute(SQL["add"], _params(key, item, now, by)).get
        _add_files(tx, int(version_key), item.version, lying)


def _add_files(
    tx: apsw.Connection, version_key: int, version: Version, lying: Mapping[str, str]
) -> None:
    for file in version.files:
        tx.execute(SQL["add_file"], _file_params(version_key, file, lying))


def _params(key: int, item: Item, now: float, by: str | None) -> dict[str, Value]:
    version = item.version
    return {
        "key": key,
        "version": version.version if version else None,
        "manifest": as_json(version.manifest, "{}") if version else None,
        "manifest_text": version.manifest_text if version else None,
        "content_hash": version.content_hash if version else None,
        "changelog": version.changelog if version else None,
        "release": version.release if version else "",
        "side_file": version.side_file if version else "",
        "published_by": by,
        "signer": item.signature.signer if item.signature and by is not None else "",
        "now": now,
    }


def _file_params(version_key: int, file: ItemFile, lying: Mapping[str, str]) -> dict[str, Value]:
    return {
        "version_key": version_key,
        "path": file.path,
        "media_type": file.media_type,
        "sha256": file.sha256,
        "size_bytes": len(file.content),
        "executable": int(file.executable),
        "content": None if file.sha256 in lying else file.content,
        "storage_key": lying.get(file.sha256),
    }
