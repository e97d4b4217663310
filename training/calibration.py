"""Fit the probabilities of hits and write src/pegboard/search/calibration.json.

    python training/calibration.py --data DATA --keep build/boards [--judge]

Boards of 45 to 20,000 tools are asked questions that they serve (DATA/retrieval) and questions
that no tool serves (src/pegboard/search/unserved.txt). Each set is judged by parameters that
were fitted without its questions; with `--judge`, nothing is written. Needs the packages of
training/requirements.txt, at build time only.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from boards import SETS, board_file, filled, folder_for  # noqa: E402
from pegboard import Pegboard  # noqa: E402
from pegboard.board.find.gathering import gather  # noqa: E402
from pegboard.board.find.ranking import ranked_candidates  # noqa: E402
from pegboard.board.measure.evaluating import (  # noqa: E402
    EVALUATED,
    EvalQuery,
    name_of,
    read_queries,
)
from pegboard.model.items import Mode  # noqa: E402
from pegboard.search import confidence  # noqa: E402
from pegboard.search.fusion import FusionSettings  # noqa: E402
from pegboard.search.query import parse  # noqa: E402
from pegboard.search.requests import split_requests  # noqa: E402
from scores import (  # noqa: E402
    SMALL,
    Rated,
    catalogue_of,
    chance_error,
    error,
    sized_boards,
)

MODES = {"hybrid": Mode.HYBRID, "vector": Mode.VECTOR, "keyword": Mode.BM25}
UNSERVED_IN_FIT, UNSERVED_IN_LARGE = 1.8, 1.1
"""Weights of unserved questions in the fit of fits, on boards of one set and on larger ones, so
that 0.2 is a good default threshold on both."""
SERVED = 2.0
"""Odds, as a logarithm, that a question is asked where it can be served."""
SHOWN, LOWER = 5, 0.05
"""Hits of a question that scores are fitted on, and the weight of those behind the first."""
UNSERVED_IN_SCORES = 0.1
"""Weight of unserved questions in the fit of scores, against the served ones of a board."""
START = (1.4, 0.1, -0.5, -0.5, 1.0)
SIGNS = ((None, None), (0.0, None), (None, 0.0), (None, 0.0), (0.0, None))
"""Where the weights of a share begin, and their bounds: a rival never makes an item likelier."""
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
    asked: dict[str, list[tuple[str, EvalQuery]]] = {
        name: [(name, each) for each in read_queries(data / "retrieval" / name / "queries.jsonl")]
        for name in SETS
    }
    by_id = {id_of(query): name for name in SMALL for _, query in asked[name]}
    for name, queries in sized_boards(data, folder).items():
        if name not in SETS:
            asked[name] = [(by_id[id_of(each)], each) for each in queries]
    pools: dict[str, list[Pool]] = {mode: [] for mode in MODES}
    for name, questions in asked.items():
        with filled(catalogue_of(data, folder, name), board_file(folder, name)) as board:
            for mode in MODES:
                pools[mode] += ask(board, name, mode, questions)
        print(name, flush=True)
    return pools


def id_of(query: EvalQuery) -> tuple[str, str]:
    return query.id, query.text


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
    scored = ranked_candidates(board.store, asked, found, FusionSettings()).scored
    right = [
        query is not None and name_of(each.candidate.id, query) in query.gold for each in scored
    ]
    return empty._replace(values=[each.value for each in scored], right=right)


# Fits


def fitted(pools: Sequence[Pool]) -> confidence.Curve:
    offset, slope, size = fit_curve([each for each in pools if each.values and is_sized(each)])
    start = confidence.Curve(offset, slope, size, SERVED, *START)
    # On the mixed boards, tools of other catalogues may serve a question as well as its gold.
    some = [each for each in pools if each.values and each.board in SETS]
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
        return float(-(weights * likely).sum() / weights.sum() + 1e-4 * (found**2).sum())

    best = minimize(loss, START, method="L-BFGS-B", bounds=SIGNS).x
    return confidence.Curve(offset, slope, size, SERVED, *map(float, best))


def log_size(items: int) -> float:
    return math.log(max(items, confidence.SMALLEST_BOARD) / confidence.SMALLEST_BOARD)


def is_sized(found: Pool) -> bool:
    """Whether its board is one of those that have the same questions at different sizes."""
    return found.board in SMALL or found.board not in SETS


def fit_curve(pools: Sequence[Pool]) -> Params:
    """Whether the board serves a question, from the evidence for its best item."""
    table = np.array([[1.0, max(each.values), log_size(each.items)] for each in pools])
    served = np.array([float(bool(each.set)) for each in pools])
    large = {each.board: UNSERVED_IN_LARGE for each in pools if each.board not in SETS}
    weights = np.array(weights_of(pools, UNSERVED_IN_FIT, large))
    found = np.zeros(3)
    for _ in range(60):
        p = 1 / (1 + np.exp(-(table @ found)))
        slope = table.T @ (weights * (p - served)) + 1e-4 * found
        bend = (table * (weights * p * (1 - p))[:, None]).T @ table + 1e-4 * np.eye(3)
        found = found - np.linalg.solve(bend, slope)
    offset, by_value, by_size = map(float, found)
    return offset, by_value, by_size


def weights_of(
    pools: Sequence[Pool], unserved: float, by_board: Mapping[str, float] = MappingProxyType({})
) -> list[float]:
    """Boards weigh the same, whatever the number of their questions."""
    counts: dict[tuple[str, bool], int] = {}
    for each in pools:
        kind = (each.board, bool(each.set))
        counts[kind] = counts.get(kind, 0) + 1
    return [
        (1.0 if each.set else by_board.get(each.board, unserved))
        * 300
        / counts[each.board, bool(each.set)]
        for each in pools
    ]


def score_terms(curve: confidence.Curve, found: Pool, place: int) -> list[float]:
    """Of one hit: its fit, and the terms of its share among its rivals."""
    value, size = found.values[place], log_size(found.items)
    logit = curve.offset + curve.slope * value + curve.size * size
    return [
        confidence.sigmoid(logit + curve.served),
        *confidence.share_terms(logit, confidence.nearest_rivals(found.values), value, value),
    ]


# Judging


def judge(pools: Sequence[Pool]) -> None:
    for name in SETS:
        curve = fitted([each for each in pools if each.set != name])
        own = first_hits(curve, [each for each in pools if each.board == name and each.set])
        perfect = chance_error([each.score for each in own])
        print(
            f"{name:16} calibration error {error(own):.3f}, of a perfect score {perfect:.3f}",
            flush=True,
        )
    curve = fitted(pools)
    for name in dict.fromkeys(each.board for each in pools):
        own = [each for each in pools if each.board == name and each.set]
        strange = [each for each in pools if each.board == name and not each.set]
        answered = [rate(curve, each, 0).fit >= 0.2 for each in own]
        refused = [rate(curve, each, 0).fit < 0.2 for each in strange]
        print(
            f"{name:16} in sample: error {error(first_hits(curve, own)):.3f}"
            f"  answered {np.mean(answered):.3f}  refused {np.mean(refused):.3f}"
        )


def first_hits(curve: confidence.Curve, pools: Sequence[Pool]) -> list[Rated]:
    return [Rated(rate(curve, each, 0).score, each.right[0]) for each in pools if each.values]


def rate(curve: confidence.Curve, found: Pool, place: int) -> confidence.Rated:
    if not found.values:
        return confidence.Rated(0.0, 0.0)
    value = found.values[place]
    rivals = confidence.nearest_rivals(found.values)
    return confidence.rated(curve, rivals, value, value, log_size(found.items))


if __name__ == "__main__":
    main()
