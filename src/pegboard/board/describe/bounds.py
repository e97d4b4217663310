"""What a search may find: what is asked for, within what whoever asks may see."""

from collections.abc import Sequence
from typing import NamedTuple

from pegboard.board.describe.by_name import describe
from pegboard.errors import NotAllowed, UsageError
from pegboard.gate.namespaces import NAMESPACE_RULE, is_namespace
from pegboard.model.calls import Caller, Role
from pegboard.model.items import DEFAULT_NAMESPACE, Filters, Item, Mode
from pegboard.model.runs import Run
from pegboard.ports.store import Store

NO_NAMESPACE = ("",)
"""No item hangs there."""


def bounded(store: Store, asked: Filters, within: Filters | None) -> Filters:
    """The filters in the store's own terms; items they are linked with may be given by name."""
    if asked.linked:
        ends = [describe(store, name, within, files=False) for name in asked.linked]
        asked = asked._replace(linked=tuple(entry.item.id for entry in ends))
    return asked._replace(namespaces=seen_namespaces(asked.namespaces, within))


def seen_namespaces(asked: Sequence[str], within: Filters | None) -> tuple[str, ...]:
    """Those that are asked for, or else all, as far as they may be seen; none means any."""
    if within is None or not within.namespaces:
        return tuple(asked)
    allowed = within.namespaces
    return tuple(each for each in asked or allowed if each in allowed) or NO_NAMESPACE


class Place(NamedTuple):
    """Where a new item hangs."""

    namespace: str = DEFAULT_NAMESPACE
    author: str = ""
    """Who makes it, if it is new; empty if only the item itself says so."""
    own: bool = False
    """Whether it must not be another author's already."""


def place_for(caller: Caller, namespace: str, within: Filters | None) -> Place:
    """Where whoever calls may hang what he makes; he may say in which of his namespaces."""
    if caller.everywhere:
        first = within.namespaces[0] if within and within.namespaces else DEFAULT_NAMESPACE
        if namespace and not is_namespace(namespace):
            raise UsageError(f"{namespace!r} is no namespace", NAMESPACE_RULE)
        return Place(namespace or first, caller.subject)
    if not caller.role.covers(Role.AUTHOR) or not caller.namespaces:
        raise NotAllowed(
            "you may not make tools here", "that takes the role author, and a namespace"
        )
    if namespace and namespace not in caller.namespaces:
        own = ", ".join(caller.namespaces)
        raise NotAllowed(f"you are no member of namespace {namespace!r}", f"name one of: {own}")
    return Place(namespace or caller.namespaces[0], caller.subject, own=True)


def recent_runs(
    store: Store, item: Item | None, within: Filters | None, limit: int
) -> Sequence[Run]:
    """Newest first, of one item, or of all in the namespaces that whoever asks may see."""
    if item is not None:
        return store.runs.recent(item.id, item.namespace, limit)
    if within is None or not within.namespaces:
        return store.runs.recent(limit=limit)
    found = [run for each in within.namespaces for run in store.runs.recent(None, each, limit)]
    return sorted(found, key=lambda run: run.at, reverse=True)[:limit]


def refuse_nonsense(limit: int, threshold: float | None, mode: str | None) -> None:
    """Raises `UsageError` for what no search can go by."""
    if limit < 1:
        raise UsageError(f"limit is {limit}; it must be at least 1")
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"threshold is {threshold}; it must be from 0 to 1")
    if mode not in (None, *Mode):
        raise UsageError(f"mode is {mode!r}; it must be one of {', '.join(Mode)}")
