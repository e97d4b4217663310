"""The versions of items in PostgreSQL, as `pegboard.store.versioning` has them."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.model.content import ItemFile, Version
from pegboard.model.items import Item
from pegboard.store.planning import Existing
from pegboard.store.postgres.database import Connection, run
from pegboard.store.queries import load
from pegboard.store.versioning import MOST_VERSIONS

SQL = load("postgres", "versions")


class Versioned(NamedTuple):
    """An item that has been written."""

    key: int
    item: Item
    existing: Existing | None


def known_versions(tx: Connection, keys: Sequence[int]) -> dict[int, dict[str, str]]:
    """Of each item, the content hash of each version by its number."""
    found: dict[int, dict[str, str]] = {}
    for key, number, content_hash in run(tx, SQL["known"], {"keys": list(keys)}):
        found.setdefault(key, {})[number] = content_hash
    return found


def write_versions(
    tx: Connection, written: Sequence[Versioned], lying: Mapping[str, str], by: str | None = None
) -> None:
    """The versions that items are put with, and what becomes of those that they have.

    `by` is who publishes them, if they are published.
    """
    old = [each for each in written if each.existing is not None]
    there = _make_room(tx, old) if old else {}
    for key, item, _ in written:
        add_version(tx, key, item, lying, by, there.get(key))
    if old:
        run(tx, SQL["drop_oldest"], _numbers(old) | {"most": MOST_VERSIONS})


def add_version(
    tx: Connection,
    key: int,
    item: Item,
    lying: Mapping[str, str],
    by: str | None,
    version_key: int | None = None,
) -> None:
    """One more, beside those that there are; if it is there already, its files."""
    if item.version is None:
        return
    if version_key is None:
        [(version_key,)] = run(tx, SQL["add"], _params(key, item, item.version, by))
    for file in item.version.files:
        run(tx, SQL["add_file"], _file_params(version_key, item.namespace, file, lying))


def _make_room(tx: Connection, old: Sequence[Versioned]) -> dict[int, int]:
    """The key of each version that is there already, by its item's; it has no files then."""
    versions = [each.item.version for each in old]
    params: dict[str, object] = {
        "elsewhere": [each.existing and each.existing.source != each.item.source for each in old],
        "hashes": [each and each.content_hash for each in versions],
        "manifests": [each and _as_json(each) for each in versions],
        "texts": [each and each.manifest_text for each in versions],
        "changelogs": [each and each.changelog for each in versions],
        "side_files": [each and each.side_file for each in versions],
    }
    run(tx, SQL["drop"], _numbers(old) | params)
    there: dict[int, int] = dict(run(tx, SQL["there"], _numbers(old)))
    if there:
        run(tx, SQL["drop_files"], {"version_keys": list(there.values())})
    return there


def _numbers(versioned: Sequence[Versioned]) -> dict[str, object]:
    numbers = [each.item.version and each.item.version.version for each in versioned]
    return {"keys": [each.key for each in versioned], "versions": numbers}


def _params(key: int, item: Item, version: Version, by: str | None) -> dict[str, object]:
    return {
        "key": key,
        "namespace": item.namespace,
        "version": version.version,
        "manifest": _as_json(version),
        "manifest_text": version.manifest_text,
        "content_hash": version.content_hash,
        "changelog": version.changelog,
        "release": version.release,
        "side_file": version.side_file,
        "published_by": by,
        "signer": item.signature.signer if item.signature and by is not None else "",
    }


def _as_json(version: Version) -> str:
    return json.dumps(dict(version.manifest), ensure_ascii=False, default=dict)


def _file_params(
    version_key: int, namespace: str, file: ItemFile, lying: Mapping[str, str]
) -> dict[str, object]:
    return {
        "version_key": version_key,
        "namespace": namespace,
        "path": file.path,
        "media_type": file.media_type,
        "sha256": file.sha256,
        "size_bytes": len(file.content),
        "executable": file.executable,
        "content": None if file.sha256 in lying else file.content,
        "storage_key": lying.get(file.sha256),
    }
