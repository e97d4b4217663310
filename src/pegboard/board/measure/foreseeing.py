"""What search will think of an item that is not on the board yet."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.board.create.alike import alike
from pegboard.board.measure.evaluating import EvalQuery
from pegboard.board.measure.taking import Compared, Looking, Taken, compare
from pegboard.errors import EmbeddingError
from pegboard.model.answers import Hit
from pegboard.model.items import Item
from pegboard.ports.stages import Progress, quiet
from pegboard.search.descriptions import complaints
from pegboard.search.suggestions import suggestion
from pegboard.search.undescribed import undescribed
from pegboard.text import harmless

MOST_TOLD = 5
"""So many of a sort are named in the problems; the lists have all."""

__all__ = ["Forecast", "Looking", "Taken", "foresee"]


class Forecast(NamedTuple):
    alike: tuple[Hit, ...]
    """Items of the board that do the same."""
    taken: tuple[Taken, ...]
    """Queries of an evaluation that it would answer before the item that is right today."""
    asked: int
    """How many of those queries were asked: the ones that are most like it."""
    queries: int
    """How many there are; 0 if no evaluation was given."""
    undescribed: tuple[str, ...]
    """Paths of parameters without description, `filter.tags[].name`; required ones first."""
    description: tuple[str, ...]
    """What is wrong with the description."""
    suggestion: str
    """A better one; empty if rules can make none."""
    notices: tuple[str, ...]
    """What was left out, and why."""
    problems: tuple[str, ...]
    """All of the above that somebody should see to, in sentences."""


def foresee(
    item: Item, board: Looking, queries: Sequence[EvalQuery] = (), progress: Progress = quiet
) -> Forecast:
    """Of an item that the gate has admitted. Nothing is put on the board."""
    like_it = alike(item, board.search)
    compared, notices = _compared(item, queries, board, progress)
    unsaid = undescribed(item.input_schema)
    wrong = complaints(item)
    problems = (
        *(f"{hit.namespace}/{hit.id} may do the same" for hit in like_it),
        *_told_taken(compared.taken),
        *_told_undescribed(unsaid),
        *(f"the description: {each}" for each in wrong),
    )
    return Forecast(
        like_it,
        compared.taken,
        compared.asked,
        len(queries),
        unsaid,
        wrong,
        suggestion(item),
        notices,
        problems,
    )


def _compared(
    item: Item, queries: Sequence[EvalQuery], board: Looking, progress: Progress
) -> tuple[Compared, tuple[str, ...]]:
    if not queries:
        return Compared(), ("no evaluation was given, so nobody can say whose queries it takes",)
    notices = []
    try:
        found = compare(item, queries, board, progress)
    except EmbeddingError as error:
        found = compare(item, queries, board._replace(embedder=None), progress)
        notices.append(f"queries were compared by words alone: {error}")
    if found.asked < len(queries):
        notices.append(
            f"{found.asked} of {len(queries)} queries were asked: those that are most like it"
        )
    return found, tuple(notices)


def _told_taken(taken: Sequence[Taken]) -> Iterator[str]:
    for each in taken[:MOST_TOLD]:
        yield (
            f"it would answer “{harmless(each.text)}” before {each.namespace}/{each.first}, which"
            f" is right ({each.own_score:.2f} to {each.score:.2f})"
        )
    if len(taken) > MOST_TOLD:
        yield f"it would answer {len(taken) - MOST_TOLD} more queries before the right item"


def _told_undescribed(paths: Sequence[str]) -> Iterator[str]:
    if paths:
        named = ", ".join(map(harmless, paths[:MOST_TOLD]))
        more = f" and {len(paths) - MOST_TOLD} more" if len(paths) > MOST_TOLD else ""
        yield f"parameters without description: {named}{more}"
