"""What a store promises about items and their versions."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.calls import CensusLine, Change, OnChange
from pegboard.model.content import Version, VersionLine
from pegboard.model.items import Entry, Fingerprint, Item, ItemId, PutReport


class Items(Protocol):
    def put(
        self,
        items: Sequence[Item],
        target: Fingerprint | None,
        *,
        rewrite: bool = False,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
        fixed: bool = False,
        own: bool = False,
    ) -> PutReport:
        """Item, text index and embedding task of each, all in one transaction.

        What has not changed is not written again, unless `rewrite` asks for it. Where `on_change`
        is given, definitions are approved when first seen and compared from then on. An id that
        another source has is refused, unless that source is among the `yielding` ones.

        Versions of other numbers stay (`store.versioning`). One of the same number is replaced; if
        versions are `fixed` and it has other content, the item is refused instead. So is, if all
        are to be their author's `own`, one whose id another author has.
        """
        ...

    def changed(self) -> list[Change]:
        """Items that are not what was approved."""
        ...

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None, by: str = "") -> int:
        """Approve what these items are now, unless they have changed again; returns how many."""
        ...

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        """Make a stricter or more lenient policy hold also for what changed under another one.

        What is held back stays so under `warn`; only `allow` or an approval lets go of it.
        """
        ...

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        """How many active items each category has, in these namespaces or in all."""
        ...

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        """Active items of these, or of all, by id and namespace, from the one after `after`."""
        ...

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None: ...

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        """Those that are kept, newest first; the latest is whichever was put last."""
        ...

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None: ...

    def named(self, name: str) -> list[Entry]:
        """Active items by id, `namespace/id`, `category__name` or name; see `board.describe`."""
        ...

    def page(self, after: int, limit: int) -> list[Entry]:
        """Items in the order of their keys, from the one after `after`."""
        ...

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        """Origin and content hash of everything on the board, or refused, from this source.

        With `under`, only of what is at or under these paths.
        """
        ...

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        """Deactivate what a scan did not see, and remove what went missing before that time.

        `seen` are origins of what is as it was, and ids of what was put. What was put after the
        scan began is left alone: another sync saw it. Returns how many went, and were removed.
        """
        ...

    def retire_under(
        self, source: str, under: Sequence[str], seen: Sequence[str], began: float
    ) -> int:
        """As `retire`, for what is at or under these paths and nothing else; removes nothing."""
        ...

    def take_census(self) -> None:
        """If the board has grown or shrunk much since the last: tidy the index, count its terms."""
        ...
