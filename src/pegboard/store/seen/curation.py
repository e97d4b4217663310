"""What people decide about items, with the rights of a caller and in no other name than his."""

from collections.abc import Sequence

from pegboard.model.calls import Role
from pegboard.model.curation import Edit, Happening, LooseLink, Tie
from pegboard.model.items import Entry, Fingerprint
from pegboard.ports.curation import Curation
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenCuration(Curation):
    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._seen = rights.seen.curation
        self._whole = rights.whole.curation
        self._by = rights.caller.subject

    def edit(
        self,
        entry: Entry,
        edit: Edit,
        by: str,
        target: Fingerprint | None,
        expected: str | None = None,
    ) -> Entry | None:
        self._rights.check([entry])
        return self._whole.edit(entry, edit, self._by, target, expected)

    def remove(self, entry: Entry, by: str, expected: str | None = None) -> bool:
        self._rights.check([entry])
        return self._whole.remove(entry, self._by, expected)

    def resolve_links(self) -> int:
        """Those of the whole board, as after a sync; how many lead elsewhere now is not told."""
        if not self._rights.caller.role.covers(Role.AUTHOR):
            raise of_the_whole("say where links lead")
        self._whole.resolve_links()
        return 0

    def ties(self, key: int) -> list[Tie]:
        return self._seen.ties(key)

    def loose_links(self, source: str | None = None) -> list[LooseLink]:
        return self._seen.loose_links(source)

    def history(self, item_id: str, namespace: str | None = None) -> Sequence[Happening]:
        return self._seen.history(item_id, namespace)
