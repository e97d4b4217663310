"""Releases in one line."""

import hashlib
from typing import Any

from making import entry_of, make_file, make_item
from pegboard.model.content import Signature, Version
from pegboard.model.items import PUBLISHED, Entry, Fingerprint, Item
from pegboard.ports.store import Store

KEY = Signature("ed25519:alice", "ed25519", "sig", "2026-01-01T00:00:00Z", "valid")


def version(number: str, content: bytes | None = None) -> Version:
    """Of one file; what it says names the number, unless something else is given."""
    said = f"the code of {number}".encode() if content is None else content
    digest = hashlib.sha256(said).hexdigest()
    return Version(
        number,
        digest,
        {"version": number},
        changelog=f"What {number} is.",
        files=(make_file("main.py", said),),
        release=f"the record of {number}, {digest}",
        side_file=f"the signature of {number}",
    )


def release(number: str, content: bytes | None = None, name: str = "send", **fields: Any) -> Item:
    """Alice's, unless it is somebody else's; each says its number in its description."""
    given = {
        "source": PUBLISHED,
        "author": "alice",
        "description": f"Sends as of {number}.",
        "signature": KEY,
        "version": version(number, content),
    }
    return make_item(name, **(given | fields))


SEND = release("0.0.0")


def publish(store: Store, *numbers: str, target: Fingerprint | None = None, **fields: Any) -> None:
    for number in numbers:
        item = release(number, **fields)
        told = store.releases.publish(item, target, "alice")
        assert told.state == "published", told


def numbers(store: Store, item: Item = SEND) -> list[str]:
    return [line.number for line in store.items.versions(item.id, item.namespace)]


def line_of(store: Store, number: str, item: Item = SEND):
    lines = store.items.versions(item.id, item.namespace)
    return next(line for line in lines if line.number == number)


def kept(store: Store, number: str, item: Item = SEND) -> Version | None:
    return store.items.version(item.id, item.namespace, number)


def hanging(store: Store, item: Item = SEND) -> str | None:
    """The version that the item hangs in; None if it hangs in none."""
    entry = entry_of(store, item)
    assert entry.item.version is not None
    return entry.item.version.version if entry.active else None


def yank(
    store: Store,
    number: str,
    becomes: str | None,
    *,
    yanked: bool = True,
    entry: Entry | None = None,
    **said: Any,
) -> bool:
    entry = entry or entry_of(store, SEND)
    name = entry.item.name
    given = {"by": "alice", "reason": "it fails", "target": None} | said
    after = release(becomes, name=name, namespace=entry.item.namespace) if becomes else None
    return store.releases.yank(entry, number, yanked=yanked, becomes=after, **given)
