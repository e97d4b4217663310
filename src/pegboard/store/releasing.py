"""What a release does to an item, decided without a database, so that every store decides alike."""

from collections.abc import Sequence
from typing import NamedTuple

from pegboard.errors import ChangedMeanwhile, ItemNotFound, UsageError
from pegboard.formats.semver import parse
from pegboard.model.calls import Caller
from pegboard.model.items import PUBLISHED, Item, Rejection, Visibility
from pegboard.model.releases import TEAM, Action, Decision, Published
from pegboard.store.planning import Existing, id_taken, not_own, taken
from pegboard.store.versioning import hung, number_taken


class Kept(NamedTuple):
    """A version that was published."""

    number: str
    content_hash: str
    yanked: bool


class Standing(NamedTuple):
    """What was decided about an item, whatever its versions say."""

    author: str
    visibility: Visibility
    deprecated: bool
    replacement: str
    latest: str

    def hold(self, item: Item) -> Item:
        """The item of another version, as it was decided about."""
        return item._replace(
            author=self.author,
            visibility=self.visibility,
            deprecated=self.deprecated,
            replacement=self.replacement,
        )

    def is_for(self, caller: Caller, namespace: str) -> bool:
        """Whether this is the caller's to change: a private item is its author's alone."""
        hidden = self.visibility is Visibility.PRIVATE and self.author != caller.subject
        return not hidden and caller.may_decide(namespace, self.author)


class Release(NamedTuple):
    """What is to be done with a version."""

    told: Published
    item: Item
    hangs: bool = False
    """Whether the item hangs in it from now on; else it is kept beside those that are there."""


def check_release(item: Item) -> Rejection | None:
    """Why this can be no release, whatever is on the board."""
    if item.source != PUBLISHED:
        raise UsageError(f"{item.id} is from source {item.source!r}, and so not to be published")
    check_owner(item.author, item.namespace, item.visibility)
    number = item.version.version if item.version else ""
    if parse(number) is not None and "+" not in number:
        return None
    return Rejection(
        item.source,
        item.origin,
        item.origin_hash,
        "bad_version",
        f"{item.id} cannot be published as {number!r}: a version is 1.2.3 or 1.2.3-rc.1, without +",
    )


def check_owner(owner: str, namespace: str, visibility: Visibility) -> None:
    if not owner.startswith(TEAM):
        return
    if owner != f"{TEAM}{namespace}":
        raise UsageError(
            f"{owner} cannot own what is in namespace {namespace!r}",
            f"give it to somebody, or to {TEAM}{namespace}: all authors there",
        )
    if visibility is Visibility.PRIVATE:
        raise UsageError(
            f"what is private cannot be owned by {owner}: nobody would see it",
            "make it unlisted, or let somebody own it",
        )


def plan_release(
    item: Item,
    existing: Existing | None,
    standing: Standing | None,
    kept: Sequence[Kept],
    caller: Caller | None,
) -> Release:
    """What becomes of a version of an item that stands like this."""
    number, known = _number(item), {each.number: each for each in kept}
    latest = standing.latest if standing and existing and not _is_missing(existing) else ""
    if caller and standing and not standing.is_for(caller, item.namespace):
        return _refused(item, not_own(item))
    if holder := taken(item, existing):
        return _refused(item, id_taken(item, holder))
    if existing is None or standing is None or existing.source != PUBLISHED:
        return Release(Published("published", number), item, hangs=True)
    if found := known.get(number):
        if _is_same(item, found):
            return Release(Published("unchanged", latest), item)
        return _refused(item, number_taken(item, number, known))
    after = hung([*((each.number, each.yanked) for each in kept), (number, False)])
    return Release(Published("published", after or ""), standing.hold(item), after == number)


def _number(item: Item) -> str:
    return item.version.version if item.version else ""


def _is_missing(existing: Existing) -> bool:
    return existing.drift == "missing"


def _is_same(item: Item, found: Kept) -> bool:
    """By its files: who publishes the same once more may have nothing to say of what is new."""
    return item.version is not None and item.version.content_hash == found.content_hash


def _refused(item: Item, why: Rejection) -> Release:
    return Release(Published("refused", refused=why), item)


class Yanking(NamedTuple):
    """What taking a version back, or taking that back, does to its item."""

    changes: bool
    """Whether the version was otherwise before."""
    hangs: str | None
    """In which version the item hangs then."""


def plan_yank(
    item: Item, kept: Sequence[Kept], number: str, becomes: Item | None, *, yanked: bool
) -> Yanking:
    known = {each.number: each for each in kept}
    if becomes is not None and _place(becomes) != (item.namespace, item.id, PUBLISHED):
        raise UsageError(f"{becomes.id} of {becomes.source!r} is no version of {item.id}")
    if number not in known:
        there = ", ".join(each.number for each in kept)
        raise ItemNotFound(f"{item.id} has no published version {number}", f"it has: {there}")
    if known[number].yanked == yanked:
        return Yanking(False, None)
    known[number] = known[number]._replace(yanked=yanked)
    after = hung((each.number, each.yanked) for each in known.values())
    expected = becomes.version if becomes else None
    offered = (expected.version, expected.content_hash) if expected else None
    if offered != (after and (after, known[after].content_hash)):
        raise ChangedMeanwhile(
            f"the versions of {item.id} have changed since you looked; nothing was written",
            "look at them again, and decide then",
        )
    return Yanking(True, after)


def _place(item: Item) -> tuple[str, str, str]:
    return item.namespace, item.id, item.source


def gone(item: Item) -> ChangedMeanwhile:
    return ChangedMeanwhile(f"{item.id} is gone meanwhile", "see what there is, and decide then")


def decided(item: Item, decision: Decision) -> tuple[Item, list[tuple[Action, str]]]:
    """The item as its owner wants it, and what the audit log has to tell of that."""
    if item.source != PUBLISHED:
        raise UsageError(
            f"{item.id} was not published here: it is what its source says",
            f"decide about it there: {item.source}",
        )
    if decision.owner == "":
        raise UsageError(f"{item.id} has to belong to somebody", "say to whom, or to which team")
    visibility, owner, deprecated, replacement = decision
    after = item._replace(
        visibility=item.visibility if visibility is None else visibility,
        author=item.author if owner is None else owner,
        deprecated=item.deprecated if deprecated is None else deprecated,
        replacement=item.replacement if replacement is None else replacement,
    )
    check_owner(after.author, after.namespace, after.visibility)
    lines = []
    if after.author != item.author:
        lines.append((Action.TRANSFER, f"{item.author} to {after.author}"))
    if after.visibility is not item.visibility:
        lines.append((Action.VISIBILITY, f"{item.visibility} to {after.visibility}"))
    if (after.deprecated, after.replacement) != (item.deprecated, item.replacement):
        lines.append((Action.DEPRECATE, _deprecation(after)))
    return after, lines


def _deprecation(item: Item) -> str:
    if not item.deprecated:
        return "no longer"
    return f"use {item.replacement}" if item.replacement else ""
