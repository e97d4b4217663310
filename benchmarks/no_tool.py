"""Can a search tell a question that some tool serves from one that none does? On the demo board.

A question is answered if a hit reaches the default threshold. Right is to answer those that are
served, and not to answer the others.
"""

import json
from pathlib import Path
from typing import Any

from boards import demo_board
from pegboard import Pegboard
from report import at_least, mean, options, save

HERE = Path(__file__).parent
SET = HERE / "sets" / "no_tool"
PAIRS = {"plain": SET, "hard": SET / "hard"}
AUC = 0.95
RIGHT = 0.90

Row = dict[str, Any]


def main() -> None:
    args = options(__doc__).parse_args()
    with demo_board() as board:
        pairs = {name: measure(board, folder) for name, folder in PAIRS.items()}
        threshold = board.settings.search.threshold
    plain = pairs["plain"]
    save(
        args,
        "no_tool",
        {
            "checks": {
                "area under the curve": at_least(plain["area under the curve"], AUC),
                "served questions that are answered": at_least(plain["served right"], RIGHT),
                "unserved questions that are not": at_least(plain["unserved right"], RIGHT),
            },
            "threshold": threshold,
            **pairs,
        },
    )


def measure(board: Pegboard, folder: Path) -> Row:
    served = [asked(board, row) for row in rows(folder / "served.jsonl")]
    unserved = [asked(board, row) for row in rows(folder / "unserved.jsonl")]
    scores = [row["score"] for row in served]
    kinds = sorted({row["why"] for row in unserved})
    by_why = {why: [row for row in unserved if row["why"] == why] for why in kinds}
    return {
        "served": len(served),
        "unserved": len(unserved),
        "area under the curve": area(scores, [row["score"] for row in unserved]),
        "served right": mean([float(row["answered"]) for row in served]),
        "unserved right": mean([float(not row["answered"]) for row in unserved]),
        "recall@1": mean([row["recall@1"] for row in served]),
        "recall@5": mean([row["recall@5"] for row in served]),
        "the right tool is first and is shown": mean([float(row["shown"]) for row in served]),
        "by why": {
            why: {
                "questions": len(some),
                "area under the curve": area(scores, [row["score"] for row in some]),
                "right": mean([float(not row["answered"]) for row in some]),
            }
            for why, some in by_why.items()
        },
        "wrong": {
            "served": [wrong(row) for row in served if not row["answered"]],
            "unserved": [wrong(row) for row in unserved if row["answered"]],
        },
    }


def asked(board: Pegboard, row: Row) -> Row:
    hits = board.search(row["query"], limit=5, threshold=0.0).hits
    found = [hit.id for hit in hits]
    gold = set(row.get("gold", ()))
    answered = bool(board.search(row["query"]).hits)
    return row | {
        "score": max((hit.fit for hit in hits), default=0.0),
        "answered": answered,
        "recall@1": float(bool(gold.intersection(found[:1]))),
        "recall@5": len(gold.intersection(found)) / len(gold) if gold else 0.0,
        "shown": answered and bool(gold.intersection(found[:1])),
    }


def area(served: list[float], unserved: list[float]) -> float:
    """How often a served question scores above an unserved one; a tie counts for half."""
    won = sum((a > b) + 0.5 * (a == b) for a in served for b in unserved)
    return round(won / (len(served) * len(unserved)), 4)


def wrong(row: Row) -> str:
    return f"{row['id']} {row['score']:.2f} {row['query']}"


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
