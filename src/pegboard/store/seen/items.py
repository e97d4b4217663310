"""Items with the rights of a caller."""

from collections.abc import Sequence

from pegboard.model.calls import CensusLine, Change, OnChange
from pegboard.model.content import Version, VersionLine
from pegboard.model.items import DEFAULT_NAMESPACE, Entry, Fingerprint, Item, ItemId, PutReport
from pegboard.ports.items import Items
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenItems:
    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._seen = rights.seen.items
        self._whole = rights.whole.items

    def put(
        self,
        items: Sequence[Item],
        target: Fingerprint | None,
        *,
        rewrite: bool = False,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
        fixed: bool = False,
        own: bool = True,
    ) -> PutReport:
        """Whatever is asked, an id that another author has is refused."""
        for item in items:
            self._rights.check_new(item)
        if rewrite or on_change or yielding:
            raise of_the_whole("put what a source has")
        return self._whole.put(items, target, fixed=fixed, own=True)

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None:
        found = self._seen.get(item_id, namespace, files=files)
        if found is None and self._rights.unlisted(item_id, namespace):
            return self._whole.get(item_id, namespace, files=files)
        return found

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        return self._of(item_id, namespace).versions(item_id, namespace)

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None:
        return self._of(item_id, namespace).version(item_id, namespace, number)

    def _of(self, item_id: ItemId, namespace: str) -> Items:
        return self._whole if self._rights.unlisted(item_id, namespace) else self._seen

    def named(self, name: str) -> list[Entry]:
        found = self._seen.named(name)
        item_id = ItemId(name.removeprefix(f"{DEFAULT_NAMESPACE}/"))
        known = {(entry.item.id, entry.item.namespace) for entry in found}
        if ":" in name and (item_id, DEFAULT_NAMESPACE) not in known:
            other = self.get(item_id, DEFAULT_NAMESPACE, files=False)
            if other is not None and other.active:
                found = [*found, other]
        return found

    def changed(self) -> list[Change]:
        return self._seen.changed()

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None, by: str = "") -> int:
        self._rights.check(entries)
        return self._whole.approve(entries, target, self._rights.caller.subject)

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        return self._seen.census(namespaces)

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        return self._seen.listed(categories, namespaces, after, limit)

    def page(self, after: int, limit: int) -> list[Entry]:
        return self._seen.page(after, limit)

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        return self._seen.origins(source, under)

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        raise of_the_whole("say what changes are held back")

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        raise of_the_whole("sync a source")

    def retire_under(
        self, source: str, under: Sequence[str], seen: Sequence[str], began: float
    ) -> int:
        raise of_the_whole("sync a source")

    def take_census(self) -> None:
        raise of_the_whole("count its terms")
