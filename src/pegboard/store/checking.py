"""The part of a board's check that needs no database."""

import hashlib
from itertools import groupby
from typing import NamedTuple, Protocol

from pegboard.errors import BoardCorrupt
from pegboard.model.content import Version
from pegboard.model.items import Entry, ItemId
from pegboard.store.planning import content_hash
from pegboard.store.versioning import hung
from pegboard.text import TEXT_VERSION, embedding_text, source_hash


class PublishedVersion(NamedTuple):
    """A version of a published item; one that has none comes without."""

    id: str
    namespace: str
    hangs: str | None
    """The version that the item hangs in; None while it is missing."""
    number: str | None
    yanked: bool


class Readable(Protocol):
    def ids(self) -> list[tuple[ItemId, str]]: ...

    def get(self, item_id: ItemId, namespace: str) -> Entry | None: ...

    def published_versions(self) -> list[PublishedVersion]: ...

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


def wrongly_hung(items: Readable) -> list[str]:
    """Published items that do not hang in their latest version."""
    found: list[str] = []
    by_item = groupby(items.published_versions(), lambda each: (each.id, each.namespace))
    for (item_id, _), group in by_item:
        rows = list(group)
        right = hung((each.number, each.yanked) for each in rows if each.number is not None)
        if rows[0].hangs != right:
            found.append(f"{item_id} hangs in version {rows[0].hangs}, and its latest is {right}")
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
