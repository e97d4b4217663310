"""The time that reranking adds to a search, as a ratio to embedding the query.

The questions of benchmarks/sets/lookalikes on the board of eleven services. Per question the
candidates of a hybrid search are gathered once; then embedding the query and reranking run in turn,
so that whatever else the machine does hits both alike. Reranking is all that follows the fusion of
scores: loading the ranking cards, comparing them with the question, and the trees. `first` parses
every card, `again` finds them in the cache. Only the best candidates are compared; for how many
questions comparing all of them gives the same first ten is counted, too.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from boards import folder_for
from lookalikes import asked_questions, look_alike_board
from pegboard import Pegboard
from pegboard.board.find.gathering import gather
from pegboard.board.find.ranking import RANKED, ranked_candidates
from pegboard.model.items import Filters, ItemId, Mode
from pegboard.search.fusion import FusionSettings, fuse
from pegboard.search.query import parse
from pegboard.search.ranker import parse_card
from report import at_most, options, quantile, save

DEPTH = 30
"""Candidates of each retriever, as in a search with default settings."""
SHOWN = 10
MOST_OF_EMBEDDING = 1.0
MOST_MILLISECONDS = 1.0


def main() -> None:
    parser = options(__doc__, runs=5)
    parser.add_argument("--keep", type=Path, help="folder where boards are kept for the next run")
    args = parser.parse_args()
    with folder_for(args.keep) as folder, look_alike_board(args.data, folder) as board:
        found = [measured(board, each.query, args.runs) for each in asked_questions()]
    same = sum(each.pop("same") for each in found)
    milliseconds = {name: [each[name] * 1000 for each in found] for name in found[0]}
    candidates = statistics.median(milliseconds.pop("candidates")) / 1000
    embedding = statistics.median(milliseconds["embedding"])
    first = statistics.median(milliseconds["first"])
    again = statistics.median(milliseconds["again"])
    save(
        args,
        "ranker_cost",
        {
            "checks": {
                "reranking as a ratio to embedding the query": at_most(
                    first / embedding, MOST_OF_EMBEDDING
                ),
                "reranking in a running process, milliseconds": at_most(again, MOST_MILLISECONDS),
            },
            "questions": len(found),
            "candidates, median": candidates,
            "compared at most": RANKED,
            "questions with the same first ten if all are compared": int(same),
            "milliseconds": {
                name: {
                    "median": round(statistics.median(some), 3),
                    "p95": round(quantile(some, 0.95), 3),
                }
                for name, some in milliseconds.items()
            },
        },
    )


def measured(board: Pegboard, text: str, runs: int) -> dict[str, float]:
    """Seconds, the least of all runs: the rest is what the machine did besides."""
    query, embedder, fusion = parse(text), board.embedder, FusionSettings()
    if embedder is None:
        raise SystemExit("the board has no embedder")
    gathered = gather(board.store, embedder, query, Mode.HYBRID, Filters(), DEPTH)

    plain = gathered._replace(ready=None)

    def rerank(most: int = RANKED) -> list[ItemId]:
        order = ranked_candidates(board.store, query, plain, fusion, most).scored
        return [each.candidate.id for each in order[:SHOWN]]

    steps: dict[str, list[float]] = {"embedding": [], "fusion": [], "first": [], "again": []}
    for _ in range(runs):
        steps["embedding"].append(timed(lambda: embedder.embed_query(query.plain)))
        steps["fusion"].append(timed(lambda: fuse(gathered.evidence, fusion)))
        parse_card.cache_clear()
        steps["first"].append(timed(rerank))
        steps["again"].append(timed(rerank))
    found = {name: min(some) for name, some in steps.items()}
    return {
        "embedding": found["embedding"],
        "first": found["first"] - found["fusion"],
        "again": found["again"] - found["fusion"],
        "candidates": float(len(gathered.evidence.candidates)),
        "same": float(rerank() == rerank(len(gathered.evidence.candidates))),
    }


def timed(step: Callable[[], object]) -> float:
    began = time.perf_counter()
    step()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
