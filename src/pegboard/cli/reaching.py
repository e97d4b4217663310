"""Which tiers a command is about: one board, or several that are asked as one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pegboard.app.pegboard import Pegboard, located
from pegboard.cli.opening import Board, chosen_gateway, open_board
from pegboard.cli.shared import notice
from pegboard.config.places import Located, Tier
from pegboard.config.settings import TIERS
from pegboard.errors import BoardMissing, UsageError
from pegboard.model.answers import Answer, TierState

if TYPE_CHECKING:
    from pegboard.tiers import Tiers

ALL = "all"
LOCAL = "local"

tier_option = click.option(
    "--tier",
    type=click.Choice(TIERS),
    help="The board at hand, your own, the registry, or all of them. Default: local.",
)


class Reached(NamedTuple):
    board: Board
    tiers: "Tiers | None" = None
    """Where several are asked as one; the board is the one at hand."""
    name: str = ""
    """Of the tier, where it is not the one at hand."""

    def search(self, query: str, **asked: Any) -> Answer:  # noqa: ANN401 (as the boards take them)
        if self.tiers is not None:
            return self.tiers.search(query, tier=ALL, **asked)
        began = time.monotonic()
        answer = self.board.search(query, **asked)
        if not self.name:
            return answer
        state = TierState(self.name, "ok", len(answer.hits), time.monotonic() - began)
        named = answer.with_hits(lambda hit: hit._replace(tier=self.name))
        return named._replace(tiers=(state,))

    def holding(self, name: str, *, to_run: bool = False) -> Board:
        """The board that has this item, of several the nearest; without them, whichever it is."""
        if self.tiers is None and not (to_run and self.name == Tier.REGISTRY):
            return self.board
        from pegboard.tiers.searching import Held, refuse_foreign_service

        if self.tiers is not None:
            held = self.tiers.held(name, ALL)
        else:
            held = Held(self.name, self.board, self.board.show(name))
        if to_run:
            refuse_foreign_service(held)
        return held.board


@contextmanager
def reached(
    board: str | None, tier: str | None, *, one: bool = False, data_dir: str | None = None
) -> Iterator[Reached]:
    """What the options, or else the settings, say; for `one` item, a tier is not left out."""
    if chosen_gateway(board) is not None:
        if tier is not None:
            raise UsageError(
                "--tier is for boards here, and a gateway is one board",
                "leave out --tier or the gateway; as a registry, it is named by registry.url",
            )
        with open_board(board, data_dir=data_dir) as found:
            yield Reached(found)
        return
    place = located(board=board, flags={"data_dir": data_dir} if data_dir else None)
    said = tier or place.settings.search.tier
    if said == LOCAL or (one and tier is None and said != ALL):
        with Pegboard.at(place) as found:
            yield Reached(found)
    elif said == ALL:
        with _all(place, chosen=board is not None) as every:
            yield every
    else:
        with _one(place, said) as single:
            yield single


@contextmanager
def _one(place: Located, tier: str) -> Iterator[Reached]:
    from pegboard.tiers import open_registry, open_user  # with them comes an HTTP client

    with (open_user if tier == Tier.USER else open_registry)(place) as board:
        yield Reached(board, name=tier)


@contextmanager
def _all(place: Located, *, chosen: bool) -> Iterator[Reached]:
    from pegboard.tiers import Tiers

    try:
        local = Pegboard.at(place)
    except BoardMissing:
        if chosen or not place.settings.registry.url:
            raise
        notice("there is no board here yet, so only the registry was asked")
        with _one(place, Tier.REGISTRY) as registry:
            yield registry
        return
    with local, Tiers(local) as tiers:
        yield Reached(local, tiers)
