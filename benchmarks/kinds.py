"""Skills, directives and knowledge among tools: how well each kind is found, passage by passage.

Each set is a folder as `pegboard add` takes it, with questions; the tools of the demo are on the
board as well. Measured a second time with one passage for each item, to show what the others bring.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from boards import folder_for
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, evaluate
from pegboard.model.answers import Answer
from pegboard.model.items import Filters, Item, Kind
from pegboard.ports.stages import quiet
from pegboard.text import Passage, passages
from report import at_least, options, save

HERE = Path(__file__).parent
SETS = {"handbook": Path(), "kinds": Path("ai")}
"""Folders of questions, and where in them the items are."""
DEMO = HERE.parent / "demo"
DETAILS = "details of long texts"
MEASURES = ("recall@1", "recall@5", "ndcg@10")
AS_WELL = 0.95
"""Of what tools reach, at least so much is to be reached by skills."""
WHOLE, ASKED, FIRST = (
    "with passages",
    "with passages, and asked for the kind",
    "one passage an item",
)


def main() -> None:
    args = options(__doc__).parse_args()
    found = {name: measured(HERE / "sets" / name, items) for name, items in SETS.items()}
    found = {name: result for name, result in found.items() if result}
    asked = found["handbook"][ASKED]
    share = asked["skill"]["recall@5"] / asked["tool"]["recall@5"]
    save(
        args,
        "kinds",
        {
            "checks": {
                "recall@5 of skills against that of tools, asked for the kind": at_least(
                    share, AS_WELL
                )
            },
            "sets": found,
        },
    )


def measured(folder: Path, items: Path) -> dict[str, Any]:
    """By kind, and by what the question asks for."""
    if not (folder / "queries.jsonl").is_file():
        return {}
    lines = (folder / "queries.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    with board_of(folder / items) as board:
        whole, asked = sliced(board, rows), sliced(board, rows, by_kind=True)
        counted = census(board)
    with mock.patch("pegboard.text.passages", itself), board_of(folder / items) as board:
        first = sliced(board, rows)
    return {"board": counted, WHOLE: whole, ASKED: asked, FIRST: first}


def itself(item: Item) -> tuple[Passage, ...]:
    """What the item is, and nothing of what it says."""
    return passages(item)[:1]


@contextmanager
def board_of(items: Path) -> Iterator[Pegboard]:
    with folder_for(None) as folder, evaluation_board(folder / "b.db", located().settings) as board:
        board.add_folder(items, name="documents")
        board.add_folder(DEMO, name="demo")
        outcome = board.sync()
        refused = sum(each.rejected.total() for each in outcome.sources)
        if refused or outcome.waiting or outcome.notices:
            raise SystemExit(
                f"{items}: {refused} refused, {outcome.waiting} wait, {outcome.notices}"
            )
        yield board


def census(board: Pegboard) -> dict[str, int]:
    kept = [each.vectors for each in board.store.models.kept()]
    kinds = [entry.item.kind.value for entry in board.store.items.page(0, 10_000)]
    return {kind.value: kinds.count(kind.value) for kind in Kind} | {"vectors": sum(kept)}


def sliced(
    board: Pegboard, rows: Sequence[dict[str, Any]], *, by_kind: bool = False
) -> dict[str, dict[str, object]]:
    kinds = {row["query"]: row["kind"] for row in rows}
    slices: dict[str, list[EvalQuery]] = {}
    for row in rows:
        query = EvalQuery(row["id"], row["query"], tuple(row["gold"]))
        detail = row.get("about") == "detail" or row.get("deep", False)
        for name in ("all", row["kind"], *([DETAILS] if detail else [])):
            slices.setdefault(name, []).append(query)

    @cache
    def ask(text: str) -> Answer:
        wanted = (kinds[text],) if by_kind and text in kinds else ()
        return board.search(text, limit=10, threshold=0.0, filters=Filters(kinds=wanted))

    found = {
        name: evaluate(part, ask, board.settings.search.threshold, quiet)
        for name, part in slices.items()
    }
    return {
        name: {each: result[each] for each in ("queries", *MEASURES)}
        for name, result in found.items()
    }


if __name__ == "__main__":
    main()
