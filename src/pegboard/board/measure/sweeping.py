"""Better search settings for anyone's own queries, if there are any: measured on queries that had
no part in choosing them.

The legs are asked once for each query; what they say is then weighed in every way of a grid. The
best of many ways always looks good on the queries it was chosen by. So the gain that counts is
held out: settings are picked on nine tenths of the queries and measured on the other tenth, till
each tenth had its turn. And of the ways that noise cannot tell from the best, the one nearest to
the present settings is picked: a change needs a reason.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from pegboard.board.find.answering import Ask, FindSettings
from pegboard.board.find.gathering import Gathered, gather
from pegboard.board.find.ranking import ranked_candidates
from pegboard.board.find.requests import find_requests, in_turn, requests_of, shares
from pegboard.board.measure.evaluating import (
    CUTOFF,
    EVALUATED,
    SEED,
    EvalQuery,
    evaluate,
    interval,
    name_of,
    scores,
)
from pegboard.model.answers import Answer
from pegboard.model.items import Mode
from pegboard.ports.stages import Embedder, Progress
from pegboard.ports.store import Store
from pegboard.search.fusion import FusionSettings, Method
from pegboard.search.query import Query, parse
from pegboard.search.services import scope

MEASURE = f"ndcg@{CUTOFF}"
FOLDS = 10
ROUNDS = 5
"""How often the folds are drawn anew: the gain hangs on where the queries happen to fall."""
ENOUGH = 20
"""With fewer queries nothing is recommended."""
ALPHAS = tuple(step / 20 for step in range(21))
KS = (10, 30, 60, 100)
WEIGHTS = ((1.0, 0.25), (1.0, 0.5), (1.0, 1.0), (0.5, 1.0), (0.25, 1.0))
"""Of words and of meaning."""

Table = Mapping[FusionSettings, Sequence[float]]
"""Every setting's score on each query."""


class HeldOut(NamedTuple):
    """Settings measured on queries that they were not picked by."""

    folds: int
    rounds: int
    gain: float
    interval: tuple[float, float]
    picked: Counter[FusionSettings]
    """How often each was."""


class Sweep(NamedTuple):
    queries: int
    present: FusionSettings
    best: FusionSettings
    """The one with the highest mean over all queries, chance included."""
    chosen: FusionSettings
    """Of those that noise cannot tell from the best, the one nearest to the present."""
    means: Mapping[FusionSettings, float]
    held_out: HeldOut
    reason: str
    """Why the present settings should stay; empty if the chosen are recommended."""

    @property
    def recommended(self) -> bool:
        return not self.reason


class Bench(NamedTuple):
    """A board with an evaluation's tools on it, and the settings it is asked with at present."""

    store: Store
    embedder: Embedder | None
    settings: FindSettings
    threshold: float


def sweep(
    bench: Bench, queries: Sequence[EvalQuery], progress: Progress
) -> tuple[dict[str, object], list[str]]:
    """What the grid gives on these queries, as a report, and notices."""
    tried = grid(bench.settings.fusion)
    table: dict[FusionSettings, list[float]] = {each: [] for each in tried}
    notices: dict[str, None] = {}
    for number, query in enumerate(queries, start=1):
        parts = _evidence(bench, query)
        notices |= dict.fromkeys(note for part in parts for note in part.gathered.notices)
        for each in tried:
            names = [name_of(item_id, query) for item_id in _ranked(bench, parts, each)]
            table[each].append(scores(query, names)[MEASURE])
        progress("weighing", number, len(queries))
    found = judge(table, bench.settings.fusion)
    seen = _seen(bench, queries, found, progress) if found.recommended else {}
    return report(found) | seen, list(notices)


class _Part(NamedTuple):
    """One request of a query, and what the retrievers say to it."""

    query: Query
    gathered: Gathered
    limit: int


def _evidence(bench: Bench, query: EvalQuery) -> list[_Part]:
    """Ask the retrievers for each request of the query, as a search does."""
    texts = requests_of(bench.store, query.text, EVALUATED)
    depth = max(bench.settings.depth, CUTOFF)
    parts = []
    for text, limit in zip(texts, shares(CUTOFF, len(texts)), strict=True):
        if (parsed := parse(text)).blank:
            continue
        asked = scope(parsed, bench.store.index.source_counts(), EVALUATED)
        found = gather(bench.store, bench.embedder, asked.query, Mode.HYBRID, asked.filters, depth)
        parts.append(_Part(asked.query, found, limit))
    return parts


def _ranked(bench: Bench, parts: Sequence[_Part], fusion: FusionSettings) -> list[str]:
    """Rank the items for each request and interleave them."""
    ids = []
    for query, found, limit in parts:
        order = ranked_candidates(bench.store, query, found, fusion).scored
        ids.append([one.candidate.id for one in order[:limit]])
    return list(dict.fromkeys(in_turn(ids)))


def _seen(
    bench: Bench, queries: Sequence[EvalQuery], found: Sweep, progress: Progress
) -> dict[str, object]:
    """What the threshold does under either settings: other weights give other scores."""

    def answered(fusion: FusionSettings) -> dict[str, object]:
        settings = bench.settings._replace(fusion=fusion)

        def ask(text: str) -> Answer:
            asked = Ask(text, filters=EVALUATED, limit=CUTOFF, threshold=0.0)
            return find_requests(bench.store, bench.embedder, asked, settings)

        measured = evaluate(queries, ask, bench.threshold, progress)
        return {name: measured[name] for name in ("answered", "answered_right")}

    return {
        "threshold": bench.threshold,
        "seen": {"present": answered(found.present), "chosen": answered(found.chosen)},
    }


def grid(present: FusionSettings) -> tuple[FusionSettings, ...]:
    """The present settings first, then every other way that is tried."""
    return tuple(dict.fromkeys((present, *_others(present))))


def _others(present: FusionSettings) -> Iterator[FusionSettings]:
    """What a method does not use stays as it is, so that no two of them do the same."""
    by_sum = present._replace(method=Method.SUM)
    by_rank = present._replace(method=Method.RRF)
    yield from (by_sum._replace(alpha=alpha) for alpha in ALPHAS)
    yield from (
        by_rank._replace(k=k, bm25_weight=words, vector_weight=meaning)
        for k in KS
        for words, meaning in WEIGHTS
    )


def judge(table: Table, present: FusionSettings) -> Sweep:
    every = range(len(table[present]))
    means = {each: fmean(values) for each, values in table.items()}
    chosen, held_out = pick(table, present, every), hold_out(table, present)
    return Sweep(
        queries=len(every),
        present=present,
        best=max(means, key=means.__getitem__),
        chosen=chosen,
        means=means,
        held_out=held_out,
        reason=_why_not(len(every), held_out, changes=chosen != present),
    )


def _why_not(queries: int, held_out: HeldOut, *, changes: bool) -> str:
    if queries < ENOUGH:
        return f"too few queries: there are {queries}, and it takes at least {ENOUGH} to tell"
    if not changes:
        return "no other setting is better by more than noise"
    if held_out.interval[0] <= 0:
        found = "the gain may be chance" if held_out.gain > 0 else "there is no gain"
        return f"{found}: {_gain(held_out)}"
    return ""


def hold_out(table: Table, present: FusionSettings) -> HeldOut:
    """The gain over the present settings, query by query, of what the other folds pick."""
    order = list(range(len(table[present])))
    folds = min(FOLDS, len(order))
    gains = [0.0] * len(order)
    picked: Counter[FusionSettings] = Counter()
    draw = random.Random(SEED)  # noqa: S311 (drawing folds, not secrets)
    for _ in range(ROUNDS):
        draw.shuffle(order)
        for fold in range(folds):
            held = set(order[fold::folds])
            choice = pick(table, present, [query for query in order if query not in held])
            picked[choice] += 1
            for query in held:
                gains[query] += (table[choice][query] - table[present][query]) / ROUNDS
    return HeldOut(folds, ROUNDS, fmean(gains), interval(gains), picked)


def pick(table: Table, present: FusionSettings, queries: Sequence[int]) -> FusionSettings:
    """The best over these queries, or one nearer to the present that is within noise of it.

    Noise is one standard error of the difference to the best, query by query. Queries differ far
    more from one another than two settings do on the same query.
    """
    if not queries:
        return present
    means = {each: fmean(values[query] for query in queries) for each, values in table.items()}
    best = max(means, key=lambda each: (means[each], -distance(each, present)))

    def within_noise(each: FusionSettings) -> bool:
        lost = [table[best][query] - table[each][query] for query in queries]
        return fmean(lost) <= _standard_error(lost)

    near = sorted(table, key=lambda each: (distance(each, present), -means[each]))
    return next(each for each in near if each == best or within_noise(each))


def _standard_error(values: Sequence[float]) -> float:
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def distance(one: FusionSettings, present: FusionSettings) -> float:
    """How much of a change it is; another method is more of one than any other number."""
    if one == present:
        return 0.0
    if one.method is Method.SUM:
        apart = abs(one.alpha - present.alpha)
    else:
        apart = abs(_share(one) - _share(present)) + abs(math.log10(one.k / present.k))
    return apart + (0.0 if one.method is present.method else 100.0)


def _share(settings: FusionSettings) -> float:
    both = settings.bm25_weight + settings.vector_weight
    return settings.vector_weight / both if both else 0.5


def facts(settings: FusionSettings) -> dict[str, str | float]:
    """The settings of the method, under the names they have in `pegboard.toml`."""
    if settings.method is Method.SUM:
        return {"fusion": settings.method.value, "alpha": settings.alpha}
    return {
        "fusion": settings.method.value,
        "k": settings.k,
        "bm25_weight": settings.bm25_weight,
        "vector_weight": settings.vector_weight,
    }


def toml(settings: FusionSettings) -> str:
    lines = (
        f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value}"
        for name, value in facts(settings).items()
    )
    return "\n".join(("[search]", *lines, ""))


def report(found: Sweep) -> dict[str, object]:
    means, held_out = found.means, found.held_out

    def row(settings: FusionSettings) -> dict[str, object]:
        return {**facts(settings), MEASURE: round(means[settings], 4)}

    return {
        "queries": found.queries,
        "present": row(found.present),
        "best": row(found.best),
        "difference": round(means[found.best] - means[found.present], 4),
        "chosen": row(found.chosen),
        "held_out": {
            "folds": held_out.folds,
            "rounds": held_out.rounds,
            "gain": round(held_out.gain, 4),
            "interval": held_out.interval,
            "picked": [facts(each) | {"times": n} for each, n in held_out.picked.most_common()],
        },
        "recommended": found.recommended,
        "recommendation": _in_words(found),
        "toml": toml(found.chosen) if found.recommended else "",
        "grid": [row(each) for each in means],
    }


def _in_words(found: Sweep) -> str:
    if found.reason:
        return f"keep the present settings; {found.reason}"
    return f"change the settings; {MEASURE} gains {_gain(found.held_out)}"


def _gain(found: HeldOut) -> str:
    low, high = found.interval
    return (
        f"{found.gain:+.4f} on queries that had no part in the choice, "
        f"interval {low:+.4f} to {high:+.4f}"
    )
