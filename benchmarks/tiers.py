"""Three tiers that search as one, against one board that has all of their tools.

The tools of a set are dealt at random to a project's board, a person's own (both SQLite) and a
registry (PostgreSQL). The same queries go to all tiers and to one board, one after the other.
"""

import gzip
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from boards import SEED, add_options, board_file, filled, folder_for, sampled
from pegboard import Pegboard
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import EvalQuery, fill, find_catalogue, name_of, scores
from pegboard.model.answers import Answer
from pegboard.store.opening import scratch_beside
from pegboard.tiers import Tiers
from pegboard.tiers.opening import registry_place, user_place
from postgres_scale import serving
from report import Check, at_least, at_most, mean, options, quantile, save

SETS = ("mcpproxy_golden", "toolalpaca", "metatool", "bfcl", "sealtools", "aws")
MOST_QUERIES = 300
LEAST = 0.98
"""What of one board's nDCG@10 and recall@5 the tiers must keep."""
SLOWEST = 4.0
"""How many times as long as one board all tiers may take, at the median."""
NOWHERE = "http://127.0.0.1:9"

Search = Callable[[str], Answer]


class Measured(NamedTuple):
    ndcg: float
    recall: float
    median_ms: float


def main() -> None:
    found = options(__doc__)
    add_options(found)
    found.set_defaults(sets=list(SETS))
    found.add_argument("--server", help="address of a server with pgvector that is there already")
    args = found.parse_args()
    table: dict[str, dict[str, dict[str, float]]] = {}
    with folder_for(args.keep) as folder, serving(args) as server:
        for name in args.sets:
            with scratch_beside(server) as registry, TemporaryDirectory() as scratch:
                data = args.data / "retrieval" / name
                table[name] = compared(data, board_file(folder, name), Path(scratch), registry)
            print(name, table[name], flush=True)
    save(args, "tiers", {"checks": checks(table), "sets": table})


def compared(data: Path, whole: Path, scratch: Path, registry: str) -> dict[str, dict[str, float]]:
    queries = sampled(data / "queries.jsonl", MOST_QUERIES)
    catalogue = find_catalogue(data)
    flags = {"data_dir": str(scratch / "home"), "search.tier_seconds": 60.0}
    parts = dealt(catalogue, scratch)
    with ExitStack() as stack:
        one = stack.enter_context(filled(catalogue, whole))
        tiers = stack.enter_context(tiered(parts, scratch, flags | {"registry.url": registry}))
        down = stack.enter_context(tiered([], scratch, flags | {"registry.url": NOWHERE}))
        ways: dict[str, Search] = {
            "one board": lambda query: one.search(query, limit=10, threshold=0.0),
            "all tiers": lambda query: tiers.search(query, tier="all", limit=10, threshold=0.0),
            "registry down": lambda query: down.search(query, tier="all", limit=10, threshold=0.0),
        }
        measured = asked(ways, queries)
    return {way: each._asdict() for way, each in measured.items()}


def dealt(catalogue: Path, scratch: Path) -> list[Path]:
    opened = gzip.open if catalogue.suffix == ".gz" else open
    with opened(catalogue, "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    random.Random(SEED).shuffle(lines)
    parts = []
    for number in range(3):
        part = scratch / f"part{number}" / "tools.jsonl"
        part.parent.mkdir()
        part.write_text("\n".join(lines[number::3]) + "\n", "utf-8")
        parts.append(part)
    return parts


@contextmanager
def tiered(parts: list[Path], scratch: Path, flags: dict[str, object]) -> Iterator[Tiers]:
    """The tiers over a project's board; with parts, filled first."""
    place = located(board=str(scratch / "project" / "board.db"), flags=flags)
    if parts:
        for part, where in zip(
            parts, (place, user_place(place), registry_place(place)), strict=True
        ):
            with Pegboard.at(where, create=True) as board:
                for notice in fill(board.store, part, board.sync).notices:
                    print(f"{part}: {notice}", flush=True)
    with Pegboard.at(place) as local, Tiers(local) as tiers:
        yield tiers


def asked(ways: dict[str, Search], queries: list[EvalQuery]) -> dict[str, Measured]:
    """Each query goes to all, one after the other, so that the machine is the same for each."""
    for search in ways.values():
        search("warm up the model and the connections")
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    took: dict[str, list[float]] = {way: [] for way in ways}
    for query in queries:
        for way, search in ways.items():
            began = time.perf_counter()
            answer = search(query.text)
            took[way].append((time.perf_counter() - began) * 1000)
            if way != "registry down" and any(each.state != "ok" for each in answer.tiers):
                raise SystemExit(f"{way}: {answer.tiers}")
            ranking = [name_of(hit.id, query) for hit in answer.hits]
            found[way].append(scores(query, ranking))
    return {
        way: Measured(
            mean([each["ndcg@10"] for each in found[way]]),
            mean([each["recall@5"] for each in found[way]]),
            round(quantile(took[way], 0.5), 2),
        )
        for way in ways
    }


def checks(table: dict[str, dict[str, dict[str, float]]]) -> dict[str, Check]:
    def ratio(way: str, figure: str) -> float:
        return mean([each[way][figure] / each["one board"][figure] for each in table.values()])

    return {
        "nDCG@10 of all tiers to one board, mean": at_least(ratio("all tiers", "ndcg"), LEAST),
        "recall@5 of all tiers to one board, mean": at_least(ratio("all tiers", "recall"), LEAST),
        "median time of all tiers to one board": at_most(ratio("all tiers", "median_ms"), SLOWEST),
        "median time with the registry down": at_most(ratio("registry down", "median_ms"), SLOWEST),
    }


if __name__ == "__main__":
    main()
