"""What a caller may do on a board: the one place that says so, whatever the database.

A caller reads through ports that show nothing else than what is his to see. What he decides is
checked here, against what he sees, and then done with the rights of the board: an admin decides
about items that others wrote.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pegboard.errors import NotAllowed
from pegboard.model.calls import Caller, Role
from pegboard.model.items import (
    CREATED,
    DEFAULT_NAMESPACE,
    PUBLISHED,
    Entry,
    Item,
    ItemId,
    Visibility,
)
from pegboard.model.releases import TEAM
from pegboard.ports.curation import Curation
from pegboard.ports.index import Index
from pegboard.ports.items import Items
from pegboard.ports.ledger import Ledger
from pegboard.ports.models import Models
from pegboard.ports.releases import Releases
from pegboard.ports.runs import Runs
from pegboard.ports.store import Store
from pegboard.ports.tasks import Tasks
from pegboard.store.rows import is_storable


@dataclass(frozen=True, slots=True)
class Seen:
    """A board as its caller may read it."""

    items: Items
    tasks: Tasks
    models: Models
    index: Index
    ledger: Ledger
    curation: Curation
    runs: Runs
    releases: Releases


class Rights(NamedTuple):
    caller: Caller
    seen: Seen
    whole: Store

    def check(self, entries: Sequence[Entry]) -> None:
        """Raises `NotAllowed` unless all of these are the caller's to change.

        In the same words for what he may not change, may not see, or is not there.
        """
        seen = self.seen.index.entries([entry.key for entry in entries])
        for entry in entries:
            if (found := seen.get(entry.key)) is None or _name(found) != _name(entry):
                raise _not_yours(entry)
            self._check_decides(found)

    def check_keys(self, keys: Sequence[int]) -> None:
        """The same for items of which only their keys are known."""
        seen = self.seen.index.entries(keys)
        if len(seen) < len(set(keys)):
            raise of_the_whole("embed what is somebody else's")
        for entry in seen.values():
            self._check_decides(entry)

    def _check_decides(self, entry: Entry) -> None:
        if not self.caller.may_decide(entry.item.namespace, entry.item.author):
            raise _not_yours(entry)

    def check_admin(self, namespace: str, what: str) -> None:
        """What no member decides alone."""
        if self.caller.role is not Role.ADMIN or namespace not in self.caller.namespaces:
            raise NotAllowed(f"to {what} is not yours", f"an admin of {namespace!r} can")

    def check_new(self, item: Item) -> None:
        """Raises `NotAllowed` unless the caller may hang such an item.

        Calls are made with the rights of the board. So it names no source, whose secrets it would
        be given, and no server but those of its own namespace.
        """
        self._check_place(item, sources=("", CREATED))
        if item.author != self.caller.subject:
            raise _not_in_the_name_of(item)

    def check_publishing(self, item: Item) -> None:
        """Raises `NotAllowed` unless the caller may publish there, in this name.

        Whether there is such an item, and whose it is, is not looked at here.
        """
        self._check_place(item, sources=(PUBLISHED,))
        own = (self.caller.subject, f"{TEAM}{item.namespace}")
        if item.author not in own and self.caller.role is not Role.ADMIN:
            raise _not_in_the_name_of(item)

    def _check_place(self, item: Item, sources: Sequence[str]) -> None:
        caller = self.caller
        if not caller.role.covers(Role.AUTHOR) or item.namespace not in caller.namespaces:
            raise NotAllowed(
                f"{item.id} cannot be put into namespace {item.namespace!r}",
                "members put items there who have the role author",
            )
        if not caller.subject:
            raise _not_in_the_name_of(item)
        if item.source not in sources or item.official:
            raise NotAllowed(f"{item.id} cannot be put as from source {item.source!r}, or official")
        server = item.executor.get("server")
        if server is not None and not self._has_server(str(server), item.namespace):
            raise NotAllowed(
                f"namespace {item.namespace!r} has no server {server!r}",
                "name one of its own",
            )

    def _has_server(self, name: str, namespace: str) -> bool:
        known = self.seen.ledger.sources()
        return any((each.name, each.namespace) == (name, namespace) for each in known)

    def unlisted(self, item_id: ItemId, namespace: str) -> bool:
        """Whether this is an item that nobody is shown, and everybody may have who knows its id."""
        if namespace != DEFAULT_NAMESPACE:
            return False
        found = self.whole.items.get(item_id, namespace, files=False)
        return found is not None and found.item.visibility is Visibility.UNLISTED


def _name(entry: Entry) -> tuple[str, str]:
    return entry.item.id, entry.item.namespace


def _not_yours(entry: Entry) -> NotAllowed:
    item_id, namespace = _name(entry)
    return NotAllowed(
        f"{item_id} in namespace {namespace!r} is not yours to change",
        "its author can, and whoever is admin of the namespace",
    )


def _not_in_the_name_of(item: Item) -> NotAllowed:
    return NotAllowed(f"{item.id} cannot be put in the name of {item.author!r}")


def settled(caller: Caller) -> Caller:
    """As boards know him: whoever has no name, or one that cannot be written, is nobody.

    Nobody is a member of nothing and decides nothing. He must not become one who is everywhere.
    """
    namespaces = tuple(each for each in caller.namespaces if is_storable(each))
    if not caller.subject or not is_storable(caller.subject):
        return Caller()
    role = caller.role if namespaces == caller.namespaces else Role.READER
    return Caller(caller.subject, namespaces, role)


def of_the_whole(what: str) -> NotAllowed:
    """The refusal of what concerns more than any namespace."""
    return NotAllowed(
        f"to {what} is for those who may decide about the whole board",
        "ask somebody who is admin without namespaces",
    )
