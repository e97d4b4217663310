"""Do scores mean what they say, and does a search know when no tool fits, on a board of any size?

Scores are the probability that a hit is right: on the retrieval sets, first hits with a score of
about 0.7 should be right in 70 % of the cases. Fits decide whether a search answers at all: boards
of 45 to 20,000 tools are asked questions that they serve and 200 that no tool of them serves
(benchmarks/sets/foreign), at the default threshold.
"""

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from boards import SEED, SETS, board_file, filled, folder_for, sampled
from pegboard import Pegboard
from pegboard.board.measure.evaluating import (
    EVALUATED,
    EvalQuery,
    find_catalogue,
    name_of,
    read_queries,
)
from pegboard.search.requests import split_requests
from report import Check, at_least, at_most, mean, options, save

FOREIGN = Path(__file__).parent / "sets" / "foreign" / "questions.jsonl"
SMALL = ("mcpproxy_golden", "restbench", "toolalpaca", "metatool")
"""Sets whose tools stand among others on the larger boards."""
SIZES = (500, 5_000, 20_000)
CORPORA = ("mcp_corpus", "openapi_corpus")
OF_EACH = 150
"""Questions of each small set that a larger board is asked at most."""
BINS = 10
DRAWS = 200
ERROR, ANSWERED, REFUSED = 0.06, 0.92, 0.85


class Rated(NamedTuple):
    score: float
    right: bool


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept for the next run")
    args = parser.parse_args()
    with folder_for(args.keep) as folder:
        sets = {name: calibrated(args.data, folder, name) for name in SETS}
        boards = {
            name: answered(args.data, folder, name, questions)
            for name, questions in sized_boards(args.data, folder).items()
        }
    checks: dict[str, Check] = {}
    for name, row in sets.items():
        checks[f"{name}, calibration error"] = at_most(row["error"], ERROR)
    for row in boards.values():
        tools = f"{row['tools']:,} tools"
        checks[f"{tools}, own questions answered"] = at_least(row["answered"], ANSWERED)
        checks[f"{tools}, foreign questions refused"] = at_least(row["refused"], REFUSED)
    save(args, "scores", {"checks": checks, "sets": sets, "boards": boards})


def calibrated(data: Path, folder: Path, name: str) -> dict[str, float]:
    source = data / "retrieval" / name
    queries = read_queries(source / "queries.jsonl")
    with filled(find_catalogue(source), board_file(folder, name)) as board:
        found = [each for query in queries for each in first_hits(board, query)]
    return {
        "first hits": len(found),
        "right": mean([float(each.right) for each in found]),
        "score": mean([each.score for each in found]),
        "error": round(error(found), 4),
        "error of a perfect score": round(chance_error([each.score for each in found]), 4),
    }


def first_hits(board: Pegboard, query: EvalQuery) -> list[Rated]:
    """The first hit for each request of a question."""
    answers = [
        board.search(text, limit=1, threshold=0.0, split=False, filters=EVALUATED)
        for text in split_requests(query.text)
    ]
    return [
        Rated(hit.score, name_of(hit.id, query) in query.gold)
        for answer in answers
        for hit in answer.hits
    ]


def error(found: Sequence[Rated]) -> float:
    """Expected calibration error: the distance of mean score and share of right hits by bin."""
    bins: dict[int, list[Rated]] = {}
    for each in found:
        bins.setdefault(min(int(each.score * BINS), BINS - 1), []).append(each)
    gaps = (
        abs(sum(each.score for each in some) - sum(each.right for each in some))
        for some in bins.values()
    )
    return sum(gaps) / len(found)


def chance_error(scores: Sequence[float]) -> float:
    """The error that these scores would have on average if each were exactly right."""
    chance = random.Random(SEED)
    draws = (error([Rated(each, chance.random() < each) for each in scores]) for _ in range(DRAWS))
    return sum(draws) / DRAWS


def sized_boards(data: Path, folder: Path) -> dict[str, list[EvalQuery]]:
    """The boards of different sizes, by name, and the questions that they serve."""
    small = {name: data / "retrieval" / name / "queries.jsonl" for name in SMALL}
    mixed = [query for path in small.values() for query in sampled(path, OF_EACH)]
    boards = {SMALL[0]: read_queries(small[SMALL[0]])}
    for size in SIZES:
        mixed_catalogue(data, folder, size)
        boards[f"mixed-{size}"] = mixed
    return boards


def mixed_catalogue(data: Path, folder: Path, size: int) -> Path:
    """The tools of the small sets, filled up with tools of other catalogues."""
    path = folder / f"mixed-{size}.jsonl"
    if path.exists():
        return path
    lines = [line for name in SMALL for line in lines_of(find_catalogue(data / "retrieval" / name))]
    others = [line for name in CORPORA for line in lines_of(data / "scale" / f"{name}.jsonl.gz")]
    random.Random(SEED).shuffle(others)
    known = {json.loads(line)["id"] for line in lines}
    lines += [line for line in others if json.loads(line)["id"] not in known][: size - len(lines)]
    path.write_text("".join(lines), "utf-8")
    return path


def lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        return [line.rstrip("\n") + "\n" for line in lines]


def catalogue_of(data: Path, folder: Path, name: str) -> Path:
    kept = folder / f"{name}.jsonl"
    return kept if kept.exists() else find_catalogue(data / "retrieval" / name)


def answered(
    data: Path, folder: Path, name: str, questions: Sequence[EvalQuery]
) -> dict[str, float]:
    foreign = [json.loads(line)["query"] for line in FOREIGN.read_text("utf-8").splitlines()]
    with filled(catalogue_of(data, folder, name), board_file(folder, name)) as board:
        return {
            "tools": board.store.index.source_counts().within(EVALUATED),
            "own questions": len(questions),
            "answered": mean([float(is_answered(board, each.text)) for each in questions]),
            "refused": mean([float(not is_answered(board, text)) for text in foreign]),
        }


def is_answered(board: Pegboard, text: str) -> bool:
    return bool(board.search(text, limit=1, filters=EVALUATED).hits)


if __name__ == "__main__":
    main()
