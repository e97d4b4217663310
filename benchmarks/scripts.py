"""Tools and questions in eight languages: does hybrid search keep up with its better retriever?

Questions in the language of their tool, questions in English for tools that are described in
another language, and questions that mix a language with English words.
"""

import json
from pathlib import Path
from typing import NamedTuple

from boards import board_file, demo_board, filled, folder_for
from pegboard import Pegboard
from pegboard.board.measure.evaluating import EvalQuery, name_of, scores
from report import Check, at_least, mean, options, save

SET = Path(__file__).parent / "sets" / "scripts"
FILES = {"own language": "queries", "English": "english"}
MODES = ("bm25", "vector", "hybrid")
FIGURES = ("ndcg@10", "recall@5")
RECALL = 0.8
"""Wanted of keywords alone, of the questions that were there when it was set."""
FIRST_LANGUAGES, FIRST_QUESTIONS = ("ar", "ja", "ru", "th", "zh"), 12
SLACK = 0.02
"""How far hybrid may stay behind the better of its retrievers."""


Table = dict[str, dict[str, dict[str, float]]]
"""Figures by language and mode."""


class Asked(NamedTuple):
    query: EvalQuery
    language: str


class Row(NamedTuple):
    """The figures of one question, by mode."""

    asked: Asked
    modes: dict[str, dict[str, float]]


def main() -> None:
    args = options(__doc__).parse_args()
    with (
        folder_for(None) as folder,
        filled(SET / "tools.jsonl", board_file(folder, "scripts")) as board,
    ):
        found = {name: measured(board, f"{file}.jsonl") for name, file in FILES.items()}
    with demo_board() as board:
        found["mixed, English tools"] = measured(board, "mixed.jsonl")
    tables = {name: by_language(rows) for name, rows in found.items()}
    save(
        args,
        "scripts",
        {
            "checks": {
                "recall@5, bm25, first 60 questions": at_least(first_recall(found), RECALL),
                **checks(tables),
            },
            "questions": {name: len(rows) for name, rows in found.items()},
            "sets": tables,
            "not among the first five of hybrid": [
                f"{row.asked.query.id} {row.asked.query.text}"
                for rows in found.values()
                for row in rows
                if row.modes["hybrid"]["recall@5"] < 1
            ],
        },
    )


def read(path: Path) -> list[Asked]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        Asked(EvalQuery(row["id"], row["query"], tuple(row["gold"])), row["language"])
        for row in lines
    ]


def measured(board: Pegboard, file: str) -> list[Row]:
    return [
        Row(asked, {mode: figures(board, asked.query, mode) for mode in MODES})
        for asked in read(SET / file)
    ]


def figures(board: Pegboard, query: EvalQuery, mode: str) -> dict[str, float]:
    hits = board.search(query.text, mode=mode, limit=10, threshold=0.0).hits
    found = scores(query, [name_of(hit.id, query) for hit in hits])
    return {figure: found[figure] for figure in FIGURES}


def by_language(rows: list[Row]) -> Table:
    """The means of each language and of all, by mode and figure."""
    languages = ["all", *dict.fromkeys(row.asked.language for row in rows)]
    return {
        language: {
            mode: {
                figure: mean(
                    [
                        row.modes[mode][figure]
                        for row in rows
                        if language in ("all", row.asked.language)
                    ]
                )
                for figure in FIGURES
            }
            for mode in MODES
        }
        for language in languages
    }


def first_recall(found: dict[str, list[Row]]) -> float:
    return mean(
        [
            row.modes["bm25"]["recall@5"]
            for row in found["own language"]
            if row.asked.language in FIRST_LANGUAGES
            and int(row.asked.query.id[2:]) <= FIRST_QUESTIONS
        ]
    )


def checks(tables: dict[str, Table]) -> dict[str, Check]:
    """Hybrid against its better retriever, in each language and over all other questions.

    Ten English questions or four mixed ones of a language are too few for a target of their own.
    """
    rows: Table = {}
    for name, table in tables.items():
        own = name == "own language"
        rows |= {f"{name}, {each}": row for each, row in table.items() if own is (each != "all")}
    return {f"nDCG@10 of hybrid, {name}": keeps_up(row) for name, row in rows.items()}


def keeps_up(row: dict[str, dict[str, float]]) -> Check:
    better = max(row["bm25"]["ndcg@10"], row["vector"]["ndcg@10"])
    return at_least(row["hybrid"]["ndcg@10"], round(better - SLACK, 4))


if __name__ == "__main__":
    main()
