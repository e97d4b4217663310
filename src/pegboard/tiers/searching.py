"""Tiers that search as one: asked at the same time, merged by score, and none waited for long.

>>> with Pegboard.open() as board, Tiers(board) as tiers:
...     for hit in tiers.search("send a message to my colleagues", tier="all").hits:
...         print(hit.id, hit.tier, hit.score)
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.board.describe.bounds import refuse_nonsense, seen_namespaces
from pegboard.board.find.patience import Patience
from pegboard.board.find.requests import combined, shares
from pegboard.config.places import Tier
from pegboard.errors import BoardUnreachable, ItemNotFound, NotExecutable, UsageError
from pegboard.execute.policy import is_service
from pegboard.model.answers import Answer, TierState
from pegboard.model.items import Entry, Filters
from pegboard.remote.board import RemoteBoard
from pegboard.tiers.boards import ALL, LOCAL, Boards
from pegboard.tiers.fusing import Wanted, fused
from pegboard.tiers.opening import Board
from pegboard.tiers.pulled import read_lock

MORE = 15
"""So many more than are shown each tier is asked for: what others have too may be among them."""
MOST = 1000


class Held(NamedTuple):
    """An item, and the nearest tier that has it."""

    tier: str
    board: Board
    entry: Entry


class Tiers(Boards):
    """Over an open board. What is opened beside it is closed here; the board itself is not."""

    def search(
        self,
        query: str,
        *,
        tier: str | None = None,
        limit: int | None = None,
        filters: Filters | None = None,
        diverse: bool = False,
        explain: bool = False,
        executable: bool = False,
        split: bool = True,
        **asked: Any,  # noqa: ANN401 (as `Pegboard.search` takes them)
    ) -> Answer:
        """As `Pegboard.search`, on these tiers; `Answer.tiers` says how each of them answered.

        A tier that is down or slow fails nothing. Raises if the only one that is asked for is not
        there at all, and what the board at hand raises. A question is split once, here: every tier
        is asked for the same requests, and hits are merged request by request.
        """
        names = self.named(tier)
        _refuse_explaining(names, explain)
        settings = self.local.settings.search
        wanted = settings.limit if limit is None else limit
        refuse_nonsense(wanted, asked.get("threshold"), asked.get("mode"))
        within = self._bounded(filters or Filters())
        texts = self.local.requests(query, within) if split else (query,)
        limits = shares(wanted, len(texts))
        requests = [
            (text, _with_more(each, len(names))) for text, each in zip(texts, limits, strict=True)
        ]
        said = asked | {"diverse": diverse, "explain": explain, "split": False}

        def search(name: str, board: Board) -> list[Answer]:
            return self._searched(name, board, requests, within, executable, said)

        found, states = self.ask(names, search, alone=len(names) == 1)
        lock = read_lock(self.place.ground, self.place.settings.data_folder)
        answers = [
            _merged(found, place, Wanted(each, diverse, lock)) for place, each in enumerate(limits)
        ]
        answer = answers[0] if len(texts) == 1 else combined(texts, answers)
        return answer._replace(
            notices=(*self._notices(found), *lock.notices, *troubles(states)),
            tiers=tuple(_counted(each, found.get(each.name, ())) for each in states),
        )

    def _searched(
        self,
        name: str,
        board: Board,
        requests: Sequence[tuple[str, int]],
        filters: Filters,
        executable: bool,
        asked: dict[str, Any],
    ) -> list[Answer]:
        """Ask one tier for each request, with its limit; a gateway for all within one deadline."""
        if isinstance(board, RemoteBoard):
            said = asked | {"patience": Patience(self.seconds), "executable": executable}
            return [
                board.search(text, limit=limit, filters=filters, **said) for text, limit in requests
            ]
        if executable and name == Tier.REGISTRY and board is not self.local:
            # Servers that others have added to the registry are not started here.
            filters, executable = filters._replace(live=()), False
        said = asked | {"executable": executable}
        return [
            Pegboard.search(board, text, limit=limit, filters=filters, **said)
            for text, limit in requests
        ]

    def _bounded(self, filters: Filters) -> Filters:
        """Within what is served here, on every tier."""
        return filters._replace(namespaces=seen_namespaces(filters.namespaces, self.local.within))

    def _notices(self, found: Mapping[str, Sequence[Answer]]) -> list[str]:
        said = [
            note if name == self.near or "query is empty" in note else f"{name}: {note}"
            for name, answers in found.items()
            for each in answers
            for note in each.notices
        ]
        return list(dict.fromkeys(said))

    def held(self, name: str, tier: str | None = None) -> Held:
        """The item by this name on the nearest tier that has it.

        If no tier is said: the board at hand and, if the settings search all, then the others.
        """
        known = self.named(tier or (ALL if self.local.settings.search.tier == ALL else LOCAL))
        asked: list[TierState] = []
        for each in known:
            alone = len(known) == 1
            found, states = self.ask([each], lambda _, board: self._shown(board, name), alone=alone)
            asked += states
            if (entry := found.get(each)) is not None:
                return Held(each, self.board(each), entry)
        looked = " or ".join(each.name for each in asked if each.state == "ok")
        said = f"there is no item {name!r} in {looked}" if looked else f"{name!r} was not looked up"
        if unheard := troubles(asked):
            raise BoardUnreachable("; ".join([said, *unheard]), "try again when it is there")
        raise ItemNotFound(said, "look for it: pegboard search --tier all")

    def _shown(self, board: Board, name: str) -> Entry | None:
        within = self.local.within
        try:
            entry = (
                board.show(name) if isinstance(board, RemoteBoard) else Pegboard.show(board, name)
            )
        except ItemNotFound:
            return None
        allowed = within.namespaces if within else ()
        return None if allowed and entry.item.namespace not in allowed else entry


def _refuse_explaining(names: Sequence[str], explain: bool) -> None:
    if explain and len(names) > 1:
        raise UsageError(
            "how a hit came by its score is told by one board",
            "name one: --tier local, user or registry",
        )


def _with_more(limit: int, tiers: int) -> int:
    """How many hits each of several tiers is asked for."""
    return min(limit + MORE, max(limit, MOST)) if tiers > 1 else limit


def _merged(found: Mapping[str, Sequence[Answer]], place: int, wanted: Wanted) -> Answer:
    """Merge what the tiers answered to the request at this place."""
    answers = [(name, each[place]) for name, each in found.items()]
    explanations = [each.explanation for _, each in answers if each.explanation]
    return fused(answers, wanted)._replace(explanation=explanations[0] if explanations else None)


def _counted(state: TierState, answers: Sequence[Answer]) -> TierState:
    """The state with the number of hits that the tier found."""
    return state._replace(hits=sum(len(each.hits) for each in answers))


def refuse_foreign_service(held: Held) -> None:
    """A service that somebody added to the registry is called there: here, nobody has allowed it.

    Its server would be started on this machine, or be shown secrets of this person.
    """
    item = held.entry.item
    if held.tier == Tier.REGISTRY and isinstance(held.board, Pegboard) and is_service(item):
        raise NotExecutable(
            f"{item.id} is a service of the registry's, and is not called from here",
            "add that service to your own board, or use the registry by its gateway",
        )


def troubles(states: Sequence[TierState]) -> list[str]:
    """What to know of tiers that did not answer."""
    return [
        f"the {each.name} tier is {each.state}, and left out: {each.error}"
        for each in states
        if each.state in ("slow", "down")
    ]
