"""How well search does on anyone's own queries."""

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from pegboard.board.maintain.filling import Outcome
from pegboard.errors import SourceError, UsageError
from pegboard.model.answers import Answer, Hit
from pegboard.model.items import Filters, SourceRecord
from pegboard.ports.stages import Progress
from pegboard.ports.store import Store

EVAL = "eval"
"""The source that an evaluation's tools come from."""
EVALUATED = Filters(sources=(EVAL,))
CUTOFF = 10
SEED = 20_240_229
RESAMPLES = 2_000
OUTSIDE = RESAMPLES // 40
"""What a 95 % interval leaves out at each end."""


class EvalQuery(NamedTuple):
    id: str
    text: str
    gold: tuple[str, ...]
    alt: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def find_catalogue(folder: Path) -> Path:
    for name in ("tools.jsonl", "tools.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{folder} has neither tools.jsonl nor tools.jsonl.gz")


def read_queries(path: Path) -> list[EvalQuery]:
    if not path.is_file():
        raise UsageError(f"{path} is not there", "an evaluation folder needs a queries.jsonl")
    found = [_query(path, number, line) for number, line in _lines(path)]
    if not found:
        raise UsageError(f"{path} has no queries in it")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from ((n, line) for n, line in enumerate(file, start=1) if line.strip())
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}") from error


def _query(path: Path, number: int, line: str) -> EvalQuery:
    try:
        row = json.loads(line)
        gold = tuple(dict.fromkeys(_ids(row["gold"])))
        alt = {str(k): _ids(vs) for k, vs in (row.get("alt") or {}).items()}
        query = EvalQuery(str(row["id"]), str(row["query"]), gold, alt)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path}, line {number} is not a query: {type(error).__name__} {error}",
            'a line is {"id": ..., "query": ..., "gold": [tool ids]}',
        ) from error
    if not gold:
        raise UsageError(f"{path}, line {number}: gold is empty; name at least one tool id")
    return query


def _ids(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list of tool ids")
    return tuple(str(each) for each in value)


def places(query: EvalQuery, ranking: Sequence[str]) -> list[int]:
    """Where each gold tool was found, from 1; one that was not found has no place."""
    open_gold = list(query.gold)
    found = []
    for place, item in enumerate(ranking, start=1):
        equal = (g for g in open_gold if item not in open_gold and item in query.alt.get(g, ()))
        match = item if item in open_gold else next(equal, None)
        if match is not None:
            open_gold.remove(match)
            found.append(place)
    return found


def recall(found: Sequence[int], gold: int, k: int) -> float:
    return sum(place <= k for place in found) / gold


def ndcg(found: Sequence[int], gold: int, k: int) -> float:
    gained = sum(1 / math.log2(place + 1) for place in found if place <= k)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(gold, k) + 1))
    return gained / ideal


def scores(query: EvalQuery, ranking: Sequence[str]) -> dict[str, float]:
    found, gold = places(query, ranking), len(query.gold)
    return {
        "recall@1": recall(found, gold, 1),
        "recall@5": recall(found, gold, 5),
        "recall@10": recall(found, gold, CUTOFF),
        "ndcg@5": ndcg(found, gold, 5),
        "ndcg@10": ndcg(found, gold, CUTOFF),
        "mrr": 1 / found[0] if found else 0.0,
        "hit@1": float(bool(found) and found[0] == 1),
        "complete@10": float(recall(found, gold, CUTOFF) == 1.0),
        "zero_hit": float(not found),
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Where the mean would lie, in 95 of 100 cases, over other queries of this sort.

    By bootstrap: the mean of many samples drawn from these values, with the same seed every time.
    """
    draw = random.Random(SEED)  # noqa: S311 (drawing samples, not secrets)
    size = len(values)
    means = sorted(sum(draw.choices(values, k=size)) / size for _ in range(RESAMPLES))
    return round(means[OUTSIDE], 4), round(means[-1 - OUTSIDE], 4)


class Filled(NamedTuple):
    tools: int
    notices: list[str]


def fill(store: Store, catalogue: Path, sync: Callable[[Sequence[str]], Outcome]) -> Filled:
    """Put the tools on the board, as a source of their own."""
    if any(each.name == EVAL and each.kind != "jsonl" for each in store.ledger.sources()):
        raise UsageError(f"this board has a source {EVAL!r} of its own", "give another board")
    store.ledger.add_source(
        SourceRecord(name=EVAL, kind="jsonl", location=str(catalogue.resolve()))
    )
    outcome = sync([EVAL])
    report, notices = outcome.sources[0], list(outcome.notices)
    if report.error:
        raise SourceError(report.error)
    if refused := report.rejected.total():
        notices.append(
            f"{refused} of the tools were refused; to see why, keep the board with "
            "--board FILE, then: pegboard rejections --board FILE"
        )
    if missing := outcome.waiting + outcome.work.failed:
        notices.append(f"measured without the vectors of {missing} tools")
    return Filled(report.added + report.changed + report.unchanged, notices)


def name_of(item_id: str, query: EvalQuery | None = None) -> str:
    """What the data calls the item: by its id, or by its id without the source it came from."""
    if query and (item_id in query.gold or any(item_id in same for same in query.alt.values())):
        return item_id
    return item_id.partition(":")[2]


def shown(query: EvalQuery, hits: Sequence[Hit], threshold: float) -> dict[str, float]:
    """What a user would see, to whom nothing is shown if no hit fits by the threshold."""
    first = hits[0] if any(hit.fit >= threshold for hit in hits) else None
    right = first is not None and bool(places(query, [name_of(first.id, query)]))
    return {"answered": float(first is not None), "answered_right": float(right)}


def evaluate(
    queries: Sequence[EvalQuery],
    ask: Callable[[str], Answer],
    threshold: float,
    progress: Progress,
) -> dict[str, object]:
    """Means over all queries, and how long a query took.

    `ask` is to leave no hit out: ranks are measured over all of them, and `threshold` decides
    only what counts as answered.
    """
    rows = []
    embed, search = [], []
    ask("warm up")
    for number, query in enumerate(queries, start=1):
        answer = ask(query.text)
        ranking = [name_of(hit.id, query) for hit in answer.hits]
        rows.append(scores(query, ranking) | shown(query, answer.hits, threshold))
        embed.append(answer.embed_seconds * 1000)
        search.append(answer.search_seconds * 1000)
        progress("asking", number, len(queries))
    means: dict[str, object] = {
        name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]
    }
    return means | {
        f"ndcg@{CUTOFF}_interval": interval([row[f"ndcg@{CUTOFF}"] for row in rows]),
        "threshold": threshold,
        "queries": len(queries),
        "latency_ms": {"embed": _percentiles(embed), "search": _percentiles(search)},
    }


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 95)
    }
