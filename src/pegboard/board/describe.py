"""One item, by any of the names a person or an agent may give it."""

from pegboard.errors import ItemAmbiguous, ItemNotFound
from pegboard.model import Entry
from pegboard.ports import Store


def describe(store: Store, name: str) -> Entry:
    """The item with this id, `category__name`, or bare name if only one item has it.

    An id that hangs in several namespaces is told apart as `namespace/id`.
    """
    name = name.encode("utf-8", "replace").decode()
    found = store.items.named(name)
    exact = [entry for entry in found if entry.item.id == name]
    candidates = exact or found
    if not candidates:
        raise ItemNotFound(
            f"there is no item {name!r} on this board", "look for it: pegboard search"
        )
    if len(candidates) > 1:
        mixed = len({entry.item.namespace for entry in candidates}) > 1
        choices = ", ".join(
            f"{entry.item.namespace}/{entry.item.id}" if mixed else entry.item.id
            for entry in candidates[:10]
        )
        raise ItemAmbiguous(f"{name!r} could be any of: {choices}", "give one of these")
    entry = candidates[0]
    return store.items.get(entry.item.id, entry.item.namespace) or entry
