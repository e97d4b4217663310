"""nDCG@10 on the retrieval sets, by way of asking, against the baselines of the data's README.

And the share of queries with a relevant tool among the five hits that a user sees: with the default
threshold, so that an answer of "no tool fits" counts as a failure. Each set goes the whole way:
catalogue, gate, store, worker, search. Its board is built once.
"""

from pathlib import Path

from boards import SETS, add_options, board_file, folder_for
from pegboard import Pegboard
from pegboard.app.measure import evaluate, evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EVALUATED, EvalQuery, name_of, places, read_queries
from report import Check, at_least, at_most, mean, options, save

WAYS: dict[str, tuple[str, dict[str, object]]] = {
    "hybrid": ("hybrid", {}),
    "rrf": ("hybrid", {"search.fusion": "rrf"}),
    "vector": ("vector", {}),
    "bm25": ("bm25", {}),
}
MACRO = 0.81
BEFORE_RANKER = {
    "mcpproxy_golden": 0.8874,
    "restbench": 0.5933,
    "toolalpaca": 0.8757,
    "metatool": 0.7010,
    "bfcl": 0.7990,
    "sealtools": 0.8992,
    "aws": 0.7924,
}
"""nDCG@10 of hybrid search at adccba96d3e7, before it was reranked."""
LOST = 0.005
"""What a set may have lost since then."""
SLACK = 0.02
"""How far a set may stay behind the best of its baselines."""
PARAPHRASED = ("mcpproxy_golden", "metatool")
OVER_BM25 = 1.25
"""What a search that understands must gain over words where queries paraphrase."""
SHOWN = 5
SEEN, SEEN_EACH = 0.90, 0.80
"""Wanted share of queries with a relevant tool among those shown: on average and on each set."""


def main() -> None:
    found = options(__doc__)
    add_options(found)
    args = found.parse_args()
    table: dict[str, dict[str, object]] = {}
    with folder_for(args.keep) as folder:
        for name in args.sets:
            table[name] = row(args.data / "retrieval" / name, board_file(folder, name))
            print(name, table[name], flush=True)
    hybrid = {name: number(each["hybrid"]) for name, each in table.items()}
    seen = {name: number(each["relevant among five shown"]) for name, each in table.items()}
    behind = {name: round(max(SETS[name]) - value, 4) for name, value in hybrid.items()}
    save(
        args,
        "quality" if set(table) == set(SETS) else "quality_of_some",
        {
            "checks": checks(hybrid, behind, seen),
            "behind the best baseline": {n: by for n, by in behind.items() if by > 0},
            "macro ndcg@10": {
                way: mean([number(each[way]) for each in table.values()]) for way in WAYS
            },
            "mean relevant among five shown": mean(list(seen.values())),
            "macro ndcg@10 of the baselines": {
                leg: mean([getattr(SETS[name], leg) for name in table])
                for leg in ("bm25", "minilm", "rrf")
            },
            "sets": table,
        },
    )


def row(folder: Path, board: Path) -> dict[str, object]:
    measured = {way: measure(folder, board, *how) for way, how in WAYS.items()}
    hybrid = measured["hybrid"]
    more = ("tools", "queries", "recall@1", "recall@5", "zero_hit", "latency_ms")
    return (
        {way: found["ndcg@10"] for way, found in measured.items()}
        | {"relevant among five shown": relevant_shown(folder, board)}
        | {"baselines": SETS[folder.name]._asdict()}
        | {key: hybrid[key] for key in more}
    )


def measure(folder: Path, board: Path, mode: str, flags: dict[str, object]) -> dict[str, object]:
    with evaluation_board(board, located(flags=flags).settings) as pegboard:
        found, notices = evaluate(pegboard, folder, mode=mode, limit=10)
    if notices:
        raise SystemExit(f"{folder.name}: {notices}")
    return found


def relevant_shown(folder: Path, board: Path) -> float:
    """The share of queries with a relevant tool among the five shown, as a user asks."""
    queries = read_queries(folder / "queries.jsonl")
    with evaluation_board(board, located().settings) as pegboard:
        return mean([float(sees_relevant(pegboard, query)) for query in queries])


def sees_relevant(board: Pegboard, query: EvalQuery) -> bool:
    hits = board.search(query.text, limit=SHOWN, filters=EVALUATED).hits
    return bool(places(query, [name_of(hit.id, query) for hit in hits[:SHOWN]]))


def checks(
    hybrid: dict[str, float], behind: dict[str, float], seen: dict[str, float]
) -> dict[str, Check]:
    far = sum(by > SLACK for by in behind.values())
    return {
        "mean of the sets": at_least(mean(list(hybrid.values())), MACRO),
        f"sets more than {SLACK} below their best baseline": at_most(far, 0),
        "a relevant tool among five shown, mean of the sets": at_least(
            mean(list(seen.values())), SEEN
        ),
        "a relevant tool among five shown, least of the sets": at_least(
            min(seen.values()), SEEN_EACH
        ),
        "the most that a set lost by reranking": at_most(
            max(BEFORE_RANKER[name] - value for name, value in hybrid.items()), LOST
        ),
        **{
            f"{name}, as a ratio to the BM25 baseline": at_least(
                hybrid[name] / SETS[name].bm25, OVER_BM25
            )
            for name in PARAPHRASED
            if name in hybrid
        },
    }


def number(value: object) -> float:
    return value if isinstance(value, float) else 0.0


if __name__ == "__main__":
    main()
