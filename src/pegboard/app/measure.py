"""Measuring search: a board for the purpose, or one as it is, asked queries with known answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from pegboard.app.pegboard import Pegboard
from pegboard.board.measure import evaluating as measures
from pegboard.board.measure.evaluating import EVALUATED, EvalQuery, Filled
from pegboard.board.measure.sweeping import Bench
from pegboard.board.measure.sweeping import sweep as look_for_better
from pegboard.config.parts import find_settings
from pegboard.config.settings import Settings
from pegboard.errors import UsageError
from pegboard.model.answers import Answer
from pegboard.model.calls import CensusLine
from pegboard.model.items import Filters
from pegboard.ports.stages import Progress, quiet
from pegboard.store.opening import open_store, scratch_beside

__all__ = ["evaluate", "evaluate_as_is", "evaluation_board", "scratch_beside", "sweep"]

Measured = tuple[dict[str, object], list[str]]
"""What was measured, and notices."""


class Findable(Protocol):
    """What queries can be asked of: a board here, or one behind a gateway."""

    settings: Settings

    def search(
        self, query: str, *, mode: str, limit: int, filters: Filters, threshold: float
    ) -> Answer: ...

    def census(self) -> list[CensusLine]: ...


@contextmanager
def evaluation_board(board: Path | str | None, settings: Settings) -> Iterator[Pegboard]:
    """The board an evaluation builds: kept if it was given a place, else gone afterwards."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pegboard-eval-") as scratch:
        store = open_store(board or Path(scratch) / "board.db", create=True)
        with Pegboard(store, settings) as pegboard:
            yield pegboard


def evaluate(
    board: Pegboard, folder: Path, *, mode: str, limit: int, progress: Progress = quiet
) -> Measured:
    """Index the folder's tools on this board, ask its queries, and measure."""
    queries, filled = _evaluation(board, folder, progress)
    measured = _ask(board, queries, mode, limit, EVALUATED, progress)
    return measured | {"tools": filled.tools, "mode": mode}, filled.notices


def evaluate_as_is(
    board: Findable, folder: Path, *, mode: str, limit: int, progress: Progress = quiet
) -> Measured:
    """Ask the folder's queries of what hangs on this board."""
    queries = measures.read_queries(folder / "queries.jsonl")
    measured = _ask(board, queries, mode, limit, Filters(), progress)
    tools = sum(line.items for line in board.census())
    return measured | {"tools": tools, "mode": mode}, []


def sweep(board: Pegboard, folder: Path, *, progress: Progress = quiet) -> Measured:
    """As `evaluate`, in search of settings that would do better."""
    if board.target is None:
        raise UsageError(
            "embedding is disabled, so there is nothing to weigh words against",
            "set embed.provider to something else",
        )
    queries, filled = _evaluation(board, folder, progress)
    found = board.settings.search
    embedder, scale = board.models.searching()
    bench = Bench(board.store, embedder, find_settings(found, scale), found.threshold)
    report, notices = look_for_better(bench, queries, progress)
    return report | {"tools": filled.tools}, filled.notices + notices


def _evaluation(
    board: Pegboard, folder: Path, progress: Progress
) -> tuple[list[EvalQuery], Filled]:
    queries = measures.read_queries(folder / "queries.jsonl")
    catalogue = measures.find_catalogue(folder)
    return queries, measures.fill(
        board.store, catalogue, lambda names: board.sync(names, progress=progress)
    )


def _ask(
    board: Findable,
    queries: list[EvalQuery],
    mode: str,
    limit: int,
    filters: Filters,
    progress: Progress,
) -> dict[str, object]:
    return measures.evaluate(
        queries,
        lambda text: board.search(text, mode=mode, limit=limit, filters=filters, threshold=0.0),
        board.settings.search.threshold,
        progress,
    )
