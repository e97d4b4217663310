"""One item, by any of the names a person or an agent may give it."""

import re
from collections.abc import Iterable, Sequence
from unicodedata import normalize

from pegboard.errors import ItemAmbiguous, ItemHeld, ItemNotFound
from pegboard.model.items import DEFAULT_NAMESPACE, Drift, Entry, Filters, Item, ItemId
from pegboard.ports.store import Store

_PLAIN = re.compile(r"\w[\w:/.@-]{0,199}")
"""Names that a shell takes as they are."""
_LIKE_VERSION = re.compile(r"[vV]?[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?")


def describe(
    store: Store, name: str, within: Filters | None = None, *, files: bool = True
) -> Entry:
    """The item with this id, `category__name`, or bare name if only one item has it.

    Of knowledge, the last part of the id will do if nothing has that name.

    An id that hangs in several namespaces is told apart as `namespace/id`. With `within`, only
    what a search with these filters could have found: anything else is as if it were not there.
    Without `files` it comes without its version, and wherever large files lie is not asked.
    """
    name = name.encode("utf-8", "replace").decode()
    found = next((there for form in _forms(name) if (there := store.items.named(form))), [])
    if within is not None:
        found = findable(store, found, within)
    elif not found and (inactive := store.items.get(ItemId(name), DEFAULT_NAMESPACE, files=files)):
        return inactive  # the owner may look at what is gone or held back
    exact = [entry for entry in found if entry.item.id == name]
    candidates = exact or found
    if not candidates:
        _tell_if_inactive(store, name, within)
        _tell_if_version(store, name, within)
        asked = name if _PLAIN.fullmatch(name) else '"..."'
        raise ItemNotFound(
            f"there is no item {name!r} on this board", f"look for it: pegboard search {asked}"
        )
    if len(candidates) > 1:
        mixed = len({entry.item.namespace for entry in candidates}) > 1
        choices = ", ".join(
            entry.item.reference if mixed else entry.item.id for entry in candidates[:10]
        )
        raise ItemAmbiguous(f"{name!r} could be any of: {choices}", "give one of these")
    entry = candidates[0]
    return (store.items.get(entry.item.id, entry.item.namespace) if files else None) or entry


def _forms(name: str) -> Iterable[str]:
    """As it was typed; else as a file system may have written the same letters."""
    if name.isascii():
        return (name,)
    return dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name)))


def _tell_if_inactive(store: Store, name: str, within: Filters | None) -> None:
    """Not to a caller with bounds, who must not learn what is beyond them."""
    if within is not None and within != Filters(live=within.live):
        return
    _tell_if_held(store, name)
    entry = store.items.get(ItemId(name), DEFAULT_NAMESPACE, files=False)
    if entry is None or entry.active:
        return
    if entry.off_at is not None:
        raise ItemNotFound(
            f"{name} is switched off", f"a person can switch it on: pegboard activate {name}"
        )
    why = "gone from its source" if entry.drift is Drift.MISSING else "not active"
    raise ItemNotFound(f"{name} is {why}", f"look at it with: pegboard show {name}")


def _tell_if_version(store: Store, name: str, within: Filters | None) -> None:
    """Where the item is there, and was asked for as 1.0 or v2: no version is written so."""
    base, _, number = name.rpartition("@")
    if not base or not _LIKE_VERSION.fullmatch(number):
        return
    try:
        item = describe(store, base, within, files=False).item
    except (ItemNotFound, ItemAmbiguous):
        return
    raise no_version(store, item, number)


def no_version(store: Store, item: Item, number: str) -> ItemNotFound:
    kept = [each.number for each in store.items.versions(item.id, item.namespace)]
    return ItemNotFound(
        f"{item.id} has no version {number}",
        f"it has: {', '.join(kept[:20])}" if kept else "its source keeps no versions",
    )


def _tell_if_held(store: Store, name: str) -> None:
    for item in (each.entry.item for each in store.items.changed() if not each.entry.active):
        if name in (item.id, item.short_name, item.name):
            raise ItemHeld(
                f"{item.id} changed since it was approved and is held back",
                "a person can look at it with: pegboard changes, and approve it",
            )


def findable(store: Store, entries: Sequence[Entry], within: Filters) -> list[Entry]:
    """Those that the filters leave, decided where searches decide it: in the database."""
    left = store.index.among([entry.key for entry in entries], within)
    return [entry for entry in entries if entry.key in left]
