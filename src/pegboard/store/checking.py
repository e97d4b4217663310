"""The part of a board's check that needs no database."""

import hashlib
from typing import Protocol

from pegboard.content import Version
from pegboard.errors import BoardCorrupt
from pegboard.model import Entry, ItemId
from pegboard.store.planning import content_hash
from pegboard.text import TEXT_VERSION, embedding_text, source_hash


class Readable(Protocol):
    def ids(self) -> list[tuple[ItemId, str]]: ...

    def get(self, item_id: ItemId, namespace: str) -> Entry | None: ...

    def older_versions(self) -> list[tuple[ItemId, str, str]]: ...

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None: ...


def wrong_hashes(items: Readable) -> list[str]:
    """Items that cannot be read, or are no longer what their hashes say."""
    found: list[str] = []
    for item_id, namespace in items.ids():
        try:
            entry = items.get(item_id, namespace)
        except BoardCorrupt as error:
            found.append(f"{item_id} cannot be read: {error.message}")
        else:
            found += _wrong_hashes_of(entry) if entry else []
    for item_id, namespace, number in items.older_versions():
        try:
            items.version(item_id, namespace, number)
        except BoardCorrupt as error:
            found.append(f"version {number} of {item_id} cannot be read: {error.message}")
    return found


def _wrong_hashes_of(entry: Entry) -> list[str]:
    item, found = entry.item, []
    if content_hash(item) != entry.content_hash:
        found.append(f"{item.id} is not what was put: its content hash differs")
    if entry.text_version == TEXT_VERSION and (
        source_hash(embedding_text(item)) != entry.embedding.source_hash
    ):
        found.append(f"{item.id} has the text hash of another text")
    files = item.version.files if item.version else ()
    return found + [
        f"{item.id} has a file {file.path} that is not what was put"
        for file in files
        if hashlib.sha256(file.content).hexdigest() != file.sha256
    ]
