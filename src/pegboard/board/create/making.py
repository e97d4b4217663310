"""Tools that are made while others work: through the gate, onto the board, found at once.

They come as a manifest with files, from an agent or from a folder, and hang on the board alone.
Each version stays as it is; what changes is a new version.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from pegboard.board.create.alike import Search, alike
from pegboard.board.create.drafts import Draft
from pegboard.board.describe.bounds import Place
from pegboard.board.run.withheld import beyond_of
from pegboard.formats.semver import precedence
from pegboard.model.answers import Hit
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.content import Json, VersionLine
from pegboard.model.items import (
    CREATED,
    Candidate,
    Entry,
    Fingerprint,
    Item,
    ItemId,
    Rejection,
)
from pegboard.ports.store import Store
from pegboard.store.planning import not_own

FIRST = "1.0.0"
UNSIGNED = (
    "it is not signed, and what is made on a board cannot be; sign it in a folder and publish it"
    " (pegboard publish), or have unsigned tools let in (trust.signatures_...)"
)

_NUMBER = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)(.*)", re.DOTALL)


class Created(NamedTuple):
    """What became of a draft. It hangs on the board if there is an entry."""

    state: str
    """`created`, `updated` or `unchanged`; else `alike`, `refused` or `failed`."""
    id: ItemId
    version: str = ""
    entry: Entry | None = None
    reason: str = ""
    alike: tuple[Hit, ...] = ()
    trial: CallResult | None = None


class Making(NamedTuple):
    """What making a tool needs of a board."""

    store: Store
    gate: Callable[[Candidate], Item | Rejection]
    search: Search
    target: Callable[[], Fingerprint | None]
    trial: Callable[[Item, Json], CallResult]
    """Runs a tool that nobody vouches for: in a sandbox, without any permission."""
    secrets: frozenset[str] = frozenset()
    """And variables, which a tool may name whose maker does not decide about the whole board."""

    def make(
        self,
        draft: Draft,
        place: Place,
        *,
        anyway: bool = False,
        try_with: Json | None = None,
    ) -> Created:
        """With `anyway`, also where a tool for the same is there."""
        namespace = place.namespace
        item_id = draft.id
        before = self.store.items.get(item_id, namespace, files=False)
        kept = self.store.items.versions(item_id, namespace)
        latest = kept[0].number if kept else ""
        verdict = self.gate(_candidate(draft, item_id, namespace, _after(latest)))
        if isinstance(verdict, Rejection):
            reason = UNSIGNED if verdict.code == "unsigned" else verdict.reason
            return Created("refused", item_id, reason=reason)
        verdict = _signed_by(verdict, place, before)
        if place.own and before is not None and before.item.author != place.author:
            return Created("refused", item_id, reason=not_own(verdict).reason)
        if place.own and (beyond := beyond_of(verdict, self.secrets)):
            reason = (
                f"it asks for {beyond}, and tools that authors make are not given that; whoever is"
                " admin without namespaces can make it, or allow a name: serve.author_secrets"
            )
            return Created("refused", item_id, reason=reason)
        version = verdict.version.version if verdict.version else ""
        if before is not None and before.off_at is not None:
            return Created("refused", item_id, version, reason=_switched_off(item_id))
        same = [each for each in kept[:1] if _same(each, verdict)]
        same += [each for each in kept if each.number == version and _same(each, verdict)]
        if before is not None and same and before.active:
            return Created("unchanged", item_id, same[0].number, before)
        if wrong := _not_after(version, latest):
            return Created("refused", item_id, version, reason=wrong)
        if before is None and not anyway and (found := alike(verdict, self.search)):
            return Created("alike", item_id, version, alike=found)
        trial = self.trial(verdict, try_with) if try_with is not None else None
        if trial is not None and trial.outcome is not Outcome.OK:
            return Created("failed", item_id, version, trial=trial)
        return self._put(verdict, version, trial)

    def _put(self, item: Item, version: str, trial: CallResult | None) -> Created:
        report = self.store.items.put([item], self.target(), fixed=True)
        if report.refused:
            return Created("refused", item.id, version, reason=report.refused[0].reason)
        self.store.curation.resolve_links()
        entry = self.store.items.get(item.id, item.namespace, files=False)
        # What was there before may be there no longer, and the other way round: somebody else may
        # make the same at the same moment.
        state = "created" if report.added else "updated" if report.changed else "unchanged"
        return Created(state, item.id, version, entry, trial=trial)


def _signed_by(item: Item, place: Place, before: Entry | None) -> Item:
    """The tool as its caller's own, or as that of whoever made it first."""
    if place.own:
        return item._replace(author=place.author, official=False)
    first = before.item.author if before else place.author
    return item._replace(author=first or item.author)


def _candidate(draft: Draft, item_id: ItemId, namespace: str, version: str) -> Candidate:
    first, _, rest = draft.category.partition("/")
    fields = {
        "version": version,
        **draft.fields,
        "id": item_id,
        "kind": "tool",
        "namespace": namespace,
        "name": draft.name,
        "category": first,
        "subcategory": rest,
        "source_protocol": CREATED,
        "signable": True,
    }
    return Candidate(CREATED, item_id, "", fields, draft.files, draft.form, draft.document)


def _same(kept: VersionLine, item: Item) -> bool:
    return item.version is not None and item.version.content_hash == kept.content_hash


def _switched_off(item_id: ItemId) -> str:
    return (
        f"a person switched {item_id} off; make another tool, or let that person switch it on: "
        f"pegboard activate {item_id}"
    )


def _after(latest: str) -> str:
    """The number of a version that says none."""
    found = _NUMBER.fullmatch(latest)
    if found is None:
        return FIRST
    major, minor, patch, rest = found.groups()
    return f"{major}.{minor}.{patch if rest.startswith('-') else int(patch) + 1}"


def _not_after(version: str, latest: str) -> str:
    """What is wrong with a number that does not come after the latest."""
    new, old = precedence(version), precedence(latest)
    if not new or not old or new > old:
        return ""
    return (
        f"version {version} does not come after {latest}, and versions stay as they are; "
        f"give it a higher number, or none: it is {_after(latest)} then"
    )
