"""Published items, with the rights of a caller and in no other name than his."""

import heapq
from collections.abc import Sequence

from pegboard.errors import NotAllowed
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Entry, Fingerprint, Item, ItemId
from pegboard.model.releases import TEAM, Action, AuditLine, Decision, Offered, Published, Wanted
from pegboard.store.seen.rights import Rights, of_the_whole


class SeenReleases:
    def __init__(self, rights: Rights) -> None:
        self._rights = rights
        self._whole = rights.whole.releases
        self._caller = rights.caller

    def publish(
        self, item: Item, target: Fingerprint | None, by: str, caller: Caller | None = None
    ) -> Published:
        """Whatever is asked, an id that is not the caller's to change is refused."""
        self._rights.check_publishing(item)
        return self._whole.publish(item, target, self._caller.subject, self._caller)

    def yank(
        self,
        entry: Entry,
        number: str,
        *,
        yanked: bool,
        by: str,
        reason: str = "",
        becomes: Item | None,
        target: Fingerprint | None,
    ) -> bool:
        self._rights.check([entry])
        return self._whole.yank(
            entry,
            number,
            yanked=yanked,
            by=self._caller.subject,
            reason=reason,
            becomes=becomes,
            target=target,
        )

    def decide(self, entry: Entry, decision: Decision, by: str) -> Entry | None:
        self._rights.check([entry])
        owner = entry.item.author
        if decision.owner is not None and owner.startswith(TEAM):
            self._rights.check_admin(entry.item.namespace, f"give away what {owner} owns")
        return self._whole.decide(entry, decision, self._caller.subject)

    def count_download(self, item_id: ItemId, namespace: str, number: str) -> None:
        """Of what the caller sees, and of what everybody may have who knows its id."""
        seen = self._rights.seen.items.get(item_id, namespace, files=False)
        if seen is not None or self._rights.unlisted(item_id, namespace):
            self._whole.count_download(item_id, namespace, number)

    def note(self, line: AuditLine) -> None:
        raise of_the_whole("write into its audit log")

    def audit(
        self,
        item_id: str | None = None,
        namespace: str | None = None,
        limit: int = 100,
        action: Action | None = None,
    ) -> Sequence[AuditLine]:
        """For admins, of their namespaces."""
        if self._caller.role is not Role.ADMIN:
            raise NotAllowed(
                "the audit log is not yours to read", "admins read that of their namespaces"
            )
        wanted = [each for each in self._caller.namespaces if namespace in (None, each)]
        found = (self._whole.audit(item_id, each, limit, action) for each in wanted)
        newest = heapq.merge(*found, key=lambda line: line.at, reverse=True)
        return list(newest)[: max(limit, 0)]

    def offered(self, wanted: Wanted) -> Offered:
        return self._rights.seen.releases.offered(wanted)
