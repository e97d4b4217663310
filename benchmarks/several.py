"""Questions with several requests: is there a tool for each among the first ten? On the demo board.

90 questions of 2 to 4 requests and 90 of one request that look like several
(benchmarks/sets/several). Each is asked as the product asks it, and once more without splitting.
"""

import json
from pathlib import Path
from typing import Any

from boards import demo_board
from pegboard import Pegboard
from pegboard.model.answers import Answer
from report import at_least, at_most, mean, options, save

HERE = Path(__file__).parent
SET = HERE / "sets" / "several"
FIRST = 10
COMPLETE = 0.85
WRONGLY_SPLIT = 0.05

Row = dict[str, Any]


def main() -> None:
    args = options(__doc__).parse_args()
    with demo_board() as board:
        several = [asked(board, row) for row in rows("queries.jsonl")]
        single = [asked(board, row) for row in rows("single.jsonl")]
    ways = {way: figures(several, single, way) for way in ("split", "whole")}
    wrongly = mean([float(row["requests found"] > 1) for row in single])
    save(
        args,
        "several",
        {
            "checks": {
                f"complete@{FIRST}, several requests": at_least(
                    ways["split"][f"complete@{FIRST}"], COMPLETE
                ),
                "single questions that are split": at_most(wrongly, WRONGLY_SPLIT),
            },
            "several": len(several),
            "single": len(single),
            "split into the right number": mean([float(is_right(row)) for row in several]),
            "not split": mean([float(row["requests found"] == 1) for row in several]),
            "single questions that are split": wrongly,
            "ways": ways,
            "wrong number": [wrong(row) for row in several if not is_right(row)],
            "wrongly split": [wrong(row) for row in single if row["requests found"] > 1],
            "incomplete": [wrong(row) for row in several if not row["split"]["complete"]],
        },
    )


def asked(board: Pegboard, row: Row) -> Row:
    """Search with and without splitting, with a limit of ten."""
    split = board.search(row["query"], limit=FIRST, threshold=0.0)
    whole = board.search(row["query"], limit=FIRST, threshold=0.0, split=False)
    gold = row["gold"]
    return row | {
        "requests found": max(len(split.requests), 1),
        "split": judged(split, gold),
        "whole": judged(whole, gold),
    }


def judged(answer: Answer, gold: list[str]) -> dict[str, float]:
    found = [hit.id for hit in answer.hits][:FIRST]
    wanted = set(gold)
    return {
        "complete": float(wanted <= set(found)),
        "recall": len(wanted.intersection(found)) / len(wanted),
        "first": float(bool(found) and found[0] in wanted),
        "at the front": len(wanted.intersection(found[: len(wanted)])) / len(wanted),
    }


def figures(several: list[Row], single: list[Row], way: str) -> dict[str, float]:
    return {
        f"complete@{FIRST}": mean([row[way]["complete"] for row in several]),
        f"recall@{FIRST}": mean([row[way]["recall"] for row in several]),
        "recall among as many hits as requests": mean(
            [row[way]["at the front"] for row in several]
        ),
        "single questions, first hit right": mean([row[way]["first"] for row in single]),
        f"single questions, recall@{FIRST}": mean([row[way]["recall"] for row in single]),
    }


def is_right(row: Row) -> bool:
    return bool(row["requests found"] == len(row["requests"]))


def wrong(row: Row) -> str:
    return f"{row['id']} {row['requests found']} {row['query']}"


def rows(name: str) -> list[Row]:
    lines = (SET / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


if __name__ == "__main__":
    main()
