"""Fit the probabilities of hits and write src/pegboard/search/calibration.json.

    python training/calibration.py --data DATA --keep build/boards [--judge]

Boards of 45 to 20,000 tools are asked questions that they serve (DATA/retrieval) and questions
that no tool serves (src/pegboard/search/unserved.txt). Each set is judged by parameters that
were fitted without its questions; with `--judge`, nothing is written. Needs scipy, at build time
only.
"""

import argparse
import gzip
import json
import math
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from boards import SETS, board_file, filled, folder_for  # noqa: E402
from pegboard import Pegboard  # noqa: E402
from pegboard.board.find.answering import ranking  # noqa: E402
from pegboard.board.find.gathering import gather  # noqa: E402
from pegboard.board.measure.evaluating import (  # noqa: E402
    EVALUATED,
    EvalQuery,
    find_catalogue,
    name_of,
    read_queries,
)
from pegboard.model.items import Mode  # noqa: E402
from pegboard.search import confidence  # noqa: E402
from pegboard.search.fusion import FusionSettings  # noqa: E402
from pegboard.search.query import parse  # noqa: E402
from pegboard.search.requests import split_requests  # noqa: E402

SEED = 3
MODES = {"hybrid": Mode.HYBRID, "vector": Mode.VECTOR, "keyword": Mode.BM25}
SMALL = ("mcpproxy_golden", "restbench", "toolalpaca", "metatool")
SIZES = (500, 5_000, 20_000)
"""Boards with the tools of the small sets, filled up with tools of other catalogues."""
CORPORA = ("mcp_corpus", "openapi_corpus")
MOST_QUESTIONS = 300
MIXED = "mixed-"
UNSERVED_IN_FIT = 1.25
"""Weight of unserved questions in the fit of fits, so that 0.2 is a good default threshold."""
SERVED = 1.5
"""Odds, as a logarithm, that a question is asked where it can be served."""
SHOWN, LOWER = 5, 0.05
"""Hits of a question that scores are fitted on, and the weight of those behind the first."""
UNSERVED_IN_SCORES = 0.1
"""Weight of unserved questions in the fit of scores, against the served ones of a board."""
Params = tuple[float, float, float]


class Pool(NamedTuple):
    """The candidates of one question."""

    board: str
    items: int
    set: str
    """The set that the question is from; empty if no tool serves it."""
    values: list[float]
    right: list[bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--judge", action="store_true")
    args = parser.parse_args()
    with folder_for(args.keep) as folder:
        pools = collected(args.data, folder)
    judge(pools["hybrid"])
    if args.judge:
        return
    found = {mode: fitted(some)._asdict() for mode, some in pools.items()}
    rounded = {
        mode: {name: round(value, 3) for name, value in values.items()}
        for mode, values in found.items()
    }
    confidence.FILE.write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")
    print(json.dumps(rounded, indent=1))


# Questions and their candidates


def collected(data: Path, folder: Path) -> dict[str, list[Pool]]:
    chance = random.Random(SEED)
    sets = {
        name: [(name, each) for each in read_queries(data / "retrieval" / name / "queries.jsonl")]
        for name in SETS
    }
    asked = {name: sample(chance, some, MOST_QUESTIONS) for name, some in sets.items()}
    mixed = [each for name in SMALL for each in sample(chance, sets[name], MOST_QUESTIONS // 2)]
    boards = {name: (find_catalogue(data / "retrieval" / name), asked[name]) for name in SETS}
    for size in SIZES:
        boards[f"{MIXED}{size}"] = (mixed_catalogue(data, folder, size), mixed)
    pools: dict[str, list[Pool]] = {mode: [] for mode in MODES}
    for name, (catalogue, questions) in boards.items():
        with filled(catalogue, board_file(folder, name)) as board:
            for mode in MODES:
                pools[mode] += ask(board, name, mode, questions)
        print(name, flush=True)
    return pools


def sample(
    chance: random.Random, found: list[tuple[str, EvalQuery]], most: int
) -> list[tuple[str, EvalQuery]]:
    return found if len(found) <= most else chance.sample(found, most)


def mixed_catalogue(data: Path, folder: Path, size: int) -> Path:
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


def ask(
    board: Pegboard, name: str, mode: str, questions: Iterable[tuple[str, EvalQuery]]
) -> Iterator[Pool]:
    items = board.store.index.source_counts().within(EVALUATED)
    for set_name, query in questions:
        for text in split_requests(query.text):
            yield pool(board, Pool(name, items, set_name, [], []), text, mode, query)
    unserved = (ROOT / "src" / "pegboard" / "search" / "unserved.txt").read_text("utf-8")
    for text in filter(None, unserved.splitlines()):
        yield pool(board, Pool(name, items, "", [], []), text, mode, None)


def pool(board: Pegboard, empty: Pool, text: str, mode: str, query: EvalQuery | None) -> Pool:
    asked = parse(text)
    found = gather(board.store, board.embedder, asked, MODES[mode], EVALUATED, 30)
    scored = ranking(board.store, asked, found.evidence, FusionSettings(), found.read_as).scored
    right = [
        query is not None and name_of(each.candidate.id, query) in query.gold for each in scored
    ]
    return empty._replace(values=[each.value for each in scored], right=right)


# Fits


def fitted(pools: Sequence[Pool]) -> confidence.Curve:
    offset, slope, size = fit_curve([each for each in pools if each.values and is_sized(each)])
    start = confidence.Curve(offset, slope, size, SERVED, *[0.0] * 5)
    some = [each for each in pools if each.values]
    rows = [
        (score_terms(start, each, place), each.right[place], weight * (LOWER if place else 1.0))
        for each, weight in zip(some, weights_of(some, UNSERVED_IN_SCORES), strict=True)
        for place in range(min(SHOWN, len(each.values)))
    ]
    table = np.array([terms for terms, _, _ in rows])
    right = np.array([float(is_right) for _, is_right, _ in rows])
    weights = np.array([weight for _, _, weight in rows])

    def loss(found: np.ndarray) -> float:
        p = np.clip(table[:, 0] / (1 + np.exp(-(table[:, 1:] @ found))), 1e-6, 1 - 1e-6)
        likely = right * np.log(p) + (1 - right) * np.log(1 - p)
        return float(-(weights * likely).sum() / weights.sum() + 1e-3 * (found**2).sum())

    best = minimize(loss, [1.4, 0.1, -1.5, -0.2, -0.1], method="L-BFGS-B").x
    return confidence.Curve(offset, slope, size, SERVED, *map(float, best))


def log_size(items: int) -> float:
    return math.log(max(items, confidence.SMALLEST_BOARD) / confidence.SMALLEST_BOARD)


def is_sized(found: Pool) -> bool:
    """Whether its board is one of those that have the same questions at different sizes."""
    return found.board in SMALL or found.board.startswith(MIXED)


def fit_curve(pools: Sequence[Pool]) -> Params:
    """Whether the board serves a question, from the evidence for its best item."""
    table = np.array([[1.0, max(each.values), log_size(each.items)] for each in pools])
    served = np.array([float(bool(each.set)) for each in pools])
    weights = np.array(weights_of(pools, UNSERVED_IN_FIT))
    found = np.zeros(3)
    for _ in range(60):
        p = 1 / (1 + np.exp(-(table @ found)))
        slope = table.T @ (weights * (p - served)) + 1e-4 * found
        bend = (table * (weights * p * (1 - p))[:, None]).T @ table + 1e-4 * np.eye(3)
        found = found - np.linalg.solve(bend, slope)
    offset, by_value, by_size = map(float, found)
    return offset, by_value, by_size


def weights_of(pools: Sequence[Pool], unserved: float) -> list[float]:
    """Boards weigh the same, whatever the number of their questions."""
    counts: dict[tuple[str, bool], int] = {}
    for each in pools:
        kind = (each.board, bool(each.set))
        counts[kind] = counts.get(kind, 0) + 1
    return [
        (1.0 if each.set else unserved) * 300 / counts[each.board, bool(each.set)] for each in pools
    ]


def score_terms(curve: confidence.Curve, found: Pool, place: int) -> list[float]:
    """Of one hit: its fit, and the terms of its share among its rivals."""
    value, size = found.values[place], log_size(found.items)
    logit = curve.offset + curve.slope * value + curve.size * size
    bounded = min(max(logit, confidence.LEAST_LOGIT), confidence.MOST_LOGIT)
    crowd = confidence.crowd(found.values, value, value)
    near = min(crowd, confidence.CROWDED)
    return [confidence.sigmoid(logit + curve.served), 1.0, bounded, near, crowd - near, size]


# Judging


def judge(pools: Sequence[Pool]) -> None:
    for name in SETS:
        curve = fitted([each for each in pools if each.set != name])
        own = [each for each in pools if each.board == name and each.set]
        print(f"{name:16} calibration error {error(curve, own):.3f}", flush=True)
    curve = fitted(pools)
    for name in dict.fromkeys(each.board for each in pools):
        own = [each for each in pools if each.board == name and each.set]
        strange = [each for each in pools if each.board == name and not each.set]
        answered = [rate(curve, each, 0).fit >= 0.2 for each in own]
        refused = [rate(curve, each, 0).fit < 0.2 for each in strange]
        print(
            f"{name:16} in sample: error {error(curve, own):.3f}"
            f"  answered {np.mean(answered):.3f}  refused {np.mean(refused):.3f}"
        )


def rate(curve: confidence.Curve, found: Pool, place: int) -> confidence.Rated:
    if not found.values:
        return confidence.Rated(0.0, 0.0)
    value = found.values[place]
    return confidence.rated(curve, found.values, value, value, log_size(found.items))


def error(curve: confidence.Curve, pools: Sequence[Pool]) -> float:
    """Expected calibration error of the first hit, over ten bins."""
    pairs = [(rate(curve, each, 0).score, each.right[0]) for each in pools if each.values]
    bins: dict[int, list[tuple[float, bool]]] = {}
    for score, right in pairs:
        bins.setdefault(min(int(score * 10), 9), []).append((score, right))
    gaps = (
        abs(sum(score for score, _ in some) - sum(right for _, right in some))
        for some in bins.values()
    )
    return sum(gaps) / len(pairs)


if __name__ == "__main__":
    main()
