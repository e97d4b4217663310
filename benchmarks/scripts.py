"""Tools and questions in Chinese, Japanese, Russian, Arabic and Thai: what words alone find."""

import json
from pathlib import Path
from typing import Any

from boards import board_file, filled, folder_for
from pegboard import Pegboard
from pegboard.board.measure.evaluating import EVALUATED, name_of
from report import at_least, mean, options, save

SET = Path(__file__).parent / "sets" / "scripts"
RECALL = 0.8
MODES = ("bm25", "hybrid")


def main() -> None:
    args = options(__doc__).parse_args()
    lines = (SET / "queries.jsonl").read_text("utf-8").splitlines()
    queries = [json.loads(line) for line in lines if line.strip()]
    with (
        folder_for(None) as folder,
        filled(SET / "tools.jsonl", board_file(folder, "scripts")) as board,
    ):
        found = {mode: [recall(board, query, mode) for query in queries] for mode in MODES}
    languages = sorted({query["language"] for query in queries})
    save(
        args,
        "scripts",
        {
            "checks": {"recall@5, bm25": at_least(mean(found["bm25"]), RECALL)},
            "queries": len(queries),
            "recall@5": {
                mode: {"all": mean(values)}
                | {
                    language: mean(
                        [v for v, q in zip(values, queries, strict=True) if is_in(q, language)]
                    )
                    for language in languages
                }
                for mode, values in found.items()
            },
            "not found by bm25": [
                f"{query['id']} {query['query']}"
                for query, value in zip(queries, found["bm25"], strict=True)
                if value < 1
            ],
        },
    )


def recall(board: Pegboard, query: dict[str, Any], mode: str) -> float:
    hits = board.search(query["query"], mode=mode, limit=5, threshold=0.0, filters=EVALUATED).hits
    gold = set(query["gold"])
    return len(gold & {name_of(hit.id) for hit in hits}) / len(gold)


def is_in(query: dict[str, Any], language: str) -> bool:
    return bool(query["language"] == language)


if __name__ == "__main__":
    main()
