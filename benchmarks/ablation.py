"""What each ingredient of the ranking gains: nDCG@10 with one thing left out or put in at a time.

Each query is asked once; what the legs say to it is kept and weighed anew in memory. At most 400
queries of a set are asked, the same at every run. `--texts` also compares ways to embed an item.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from ablation_texts import compare_texts
from boards import add_options, board_file, filled, folder_for, sampled
from pegboard import Pegboard
from pegboard.board.find.gathering import gather
from pegboard.board.measure.evaluating import (
    CUTOFF,
    EVALUATED,
    EvalQuery,
    find_catalogue,
    name_of,
    ndcg,
    places,
)
from pegboard.config.parts import find_settings
from pegboard.model.items import Leg, Mode
from pegboard.search import fusion
from pegboard.search.fusion import Evidence, FusionSettings, Method, fuse
from pegboard.search.query import parse
from report import mean, options, save

MOST_QUERIES = 400
COMPARED = 25
"""Queries of each set on which ranking in memory must give what a search gives."""
NO_BOOSTS: dict[str, object] = {
    f"search.boost_{name}": 0.0 for name in ("recency", "quality", "usage", "semantic_weight")
}
GRID = tuple(product((0.4, 0.5, 0.6, 0.7), (0.0, 2.0, 4.0, 8.0), (0.0, 4.0, 8.0, 16.0)))
"""Values of alpha, LEVEL and HALF_SURE that are tried for the set that is left out."""


class Asked(NamedTuple):
    query: EvalQuery
    evidence: Evidence


Ranking = Callable[[Evidence], list[str]]
Way = tuple[Ranking, Mapping[str, float]]
"""How to rank, and the constants of the sum that are changed for it."""
Corpus = dict[str, list[Asked]]


def main() -> None:
    found = options(__doc__)
    add_options(found)
    found.add_argument("--queries", type=int, default=MOST_QUERIES, help="a set (%(default)s)")
    found.add_argument("--texts", action="store_true", help="also compare embedded texts")
    args = found.parse_args()
    corpus: Corpus = {}
    with folder_for(args.keep) as folder:
        settings = collect(args, folder, corpus)
    result: dict[str, object] = {
        "queries": {name: len(asked) for name, asked in corpus.items()},
        "one left out": table(corpus, left_out(settings)),
        "one put in after the other": table(corpus, put_in(settings)),
        "leave one set out": leave_one_out(corpus, settings),
    }
    if args.texts:
        result["embedded texts"] = compare_texts(args.data, args.sets, args.queries)
    save(args, "ablation", result)


def collect(args: argparse.Namespace, folder: Path, corpus: Corpus) -> FusionSettings:
    """Ask the queries of each set; returns the settings that are the default."""
    settings = FusionSettings()
    for name in args.sets:
        data = args.data / "retrieval" / name
        queries = sampled(data / "queries.jsonl", args.queries)
        with filled(find_catalogue(data), board_file(folder, name), NO_BOOSTS) as board:
            corpus[name] = [Asked(query, evidence(board, query.text)) for query in queries]
            settings = find_settings(board.settings.search).fusion
            compare(board, corpus[name][:COMPARED], settings)
        print(f"{name}: {len(queries)} queries asked", flush=True)
    return settings


def evidence(board: Pegboard, text: str) -> Evidence:
    depth = max(board.settings.search.depth, CUTOFF)
    found = gather(board.store, board.embedder, parse(text), Mode.HYBRID, EVALUATED, depth)
    return found.evidence


def compare(board: Pegboard, asked: Sequence[Asked], settings: FusionSettings) -> None:
    for query, found in asked:
        hits = board.search(query.text, limit=CUTOFF, threshold=0.0, filters=EVALUATED).hits
        if [name_of(hit.id) for hit in hits] != fused(settings)(found):
            raise SystemExit(f"weighed in memory, {query.id} is ranked as no search ranks it")


def left_out(settings: FusionSettings) -> dict[str, Way]:
    default = fused(settings)
    return {
        "the default": (default, {}),
        "RRF instead of the sum": (fused(settings._replace(method=Method.RRF)), {}),
        "without the share of known words": (after(all_known, default), {}),
        "without the strength of the best match": (default, {"HALF_SURE": 0.0}),
        "without the level": (default, {"LEVEL": 0.0}),
        "without strength and level": (default, {"HALF_SURE": 0.0, "LEVEL": 0.0}),
        "without guessed words": (after(unguessed, default), {}),
        "without names first": (after(unnamed, default), {}),
        "meaning alone": (fused(settings._replace(alpha=1.0)), {}),
        "words alone": (fused(settings._replace(alpha=0.0)), {}),
    }


def put_in(settings: FusionSettings) -> dict[str, Way]:
    """From plain RRF to the default; each row has what the rows above it have."""
    default = fused(settings)
    plain = {"LEVEL": 0.0, "HALF_SURE": 0.0}
    bare = after(unnamed, after(unguessed, after(all_known, default)))
    known = after(unnamed, after(unguessed, default))
    rrf = after(unnamed, after(unguessed, fused(settings._replace(method=Method.RRF))))
    return {
        "RRF of two legs": (rrf, {}),
        "sum, alpha 0.7, BM25 / best": (earlier(0.7, 0.0), {}),
        "sum, alpha 0.7, BM25 / (best + 8), as it once was": (earlier(0.7, 8.0), {}),
        f"sum, alpha {settings.alpha:g}, BM25 / best": (bare, plain),
        "with the level": (bare, {"HALF_SURE": 0.0}),
        "with the strength of the best match": (bare, {}),
        "with the share of known words": (known, {}),
        "with guessed words": (after(unnamed, default), {}),
        "with names first: the default": (default, {}),
    }


def fused(settings: FusionSettings) -> Ranking:
    def rank(found: Evidence) -> list[str]:
        return [name_of(each.candidate.id) for each in fuse(found, settings)[:CUTOFF]]

    return rank


def earlier(alpha: float, level: float) -> Ranking:
    """The sum as it was before: cosine, and BM25 as a share of the best of the query."""

    def rank(found: Evidence) -> list[str]:
        best = found.best.get(Leg.BM25, 0.0) + level
        values = [
            (
                -alpha * max(each.scores.get(Leg.VECTOR, 0.0), 0.0)
                - (1 - alpha) * (each.scores.get(Leg.BM25, 0.0) / best if best else 0.0),
                each.id,
            )
            for each in unguessed(found).candidates
        ]
        return [name_of(item_id) for _, item_id in sorted(values)[:CUTOFF]]

    return rank


def after(change: Callable[[Evidence], Evidence], rank: Ranking) -> Ranking:
    return lambda found: rank(change(found))


def all_known(found: Evidence) -> Evidence:
    return found._replace(known=dict.fromkeys(found.known, 1.0))


def unnamed(found: Evidence) -> Evidence:
    return found._replace(named=frozenset())


def unguessed(found: Evidence) -> Evidence:
    """Without the leg over guessed words, and without what only that leg put forward."""
    if Leg.FUZZY not in found.legs:
        return found
    candidates = tuple(
        each._replace(
            scores={leg: score for leg, score in each.scores.items() if leg is not Leg.FUZZY},
            ranks={leg: rank for leg, rank in each.ranks.items() if leg is not Leg.FUZZY},
        )
        for each in found.candidates
        if set(each.ranks) != {Leg.FUZZY} or each.key in found.named
    )
    return found._replace(candidates=candidates, legs=found.legs - {Leg.FUZZY})


def table(corpus: Corpus, ways: Mapping[str, Way]) -> dict[str, dict[str, float]]:
    found = {}
    for name, way in ways.items():
        row = {each: measure(asked, *way) for each, asked in corpus.items()}
        found[name] = {"mean of the sets": mean(list(row.values())), **row}
        print(f"{name}: {found[name]['mean of the sets']}", flush=True)
    return found


def measure(asked: Sequence[Asked], rank: Ranking, constants: Mapping[str, float]) -> float:
    with changed(constants):
        return mean(
            [ndcg(places(query, rank(found)), len(query.gold), CUTOFF) for query, found in asked]
        )


@contextmanager
def changed(constants: Mapping[str, float]) -> Iterator[None]:
    """Other constants in the sum; fails if it has no such constant."""
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(patch.object(fusion, name, value))
        yield


def leave_one_out(corpus: Corpus, settings: FusionSettings) -> dict[str, object]:
    """The constants that are best for all sets but one, measured on that one, for each."""
    if len(corpus) < 2:
        return {}
    scored = {}
    for alpha, level, half in GRID:
        way = (fused(settings._replace(alpha=alpha)), {"LEVEL": level, "HALF_SURE": half})
        scored[alpha, level, half] = {name: measure(a, *way) for name, a in corpus.items()}
        print(f"alpha {alpha}, LEVEL {level}, HALF_SURE {half}", flush=True)
    default = {name: measure(asked, fused(settings), {}) for name, asked in corpus.items()}
    chosen = {
        out: max(GRID, key=lambda each: sum(v for n, v in scored[each].items() if n != out))
        for out in corpus
    }
    held_out = {out: scored[point][out] for out, point in chosen.items()}
    best = max(GRID, key=lambda each: sum(scored[each].values()))
    return {
        "mean of the held-out sets": mean(list(held_out.values())),
        "mean with the default": mean(list(default.values())),
        "mean with the best of the grid for all": mean(list(scored[best].values())),
        "best of the grid for all": named(best),
        "sets": {
            out: {"default": default[out], "held out": held_out[out], **named(chosen[out])}
            for out in corpus
        },
    }


def named(point: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("alpha", "LEVEL", "HALF_SURE"), point, strict=True))


if __name__ == "__main__":
    main()
