"""Words in SQLite: BM25 by FTS5, how words are spelled, and which terms are the commonest."""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.model.items import ItemId, LegHit, WordHits, WordQuery
from pegboard.store import limits
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Row, Value, in_list
from pegboard.store.weighing import Alternatives, alternatives, weight
from pegboard.text import FIELD_WEIGHTS

SQL = load("sqlite", "words")
Params = Mapping[str, Value]

MOST_COUNTED = 10_000
MERGED_AT_ONCE = 2_000
"""Pages of the text index that one transaction writes when its segments are merged."""
MOST_STEPS = 10_000


class TermCounts(NamedTuple):
    """Number of items, and of those that have a term, since one change of the board."""

    moment: tuple[int, int]
    items: int
    having: dict[str, int]


class Words:
    def __init__(self, database: Database) -> None:
        self._db = database
        self._local = threading.local()

    def keyword(self, query: WordQuery, filters: Params, limit: int) -> WordHits:
        if not query.lead:
            return WordHits()
        if query.lead == query.terms and not query.every:
            return self._by_lead(query, filters, limit, limits.FIRST)
        if self._leads_to_few(query):
            return self._by_all(query, filters, limit)
        return self._by_lead(query, filters, limit, 2 * limit)._replace(scores={}, whole=False)

    def _leads_to_few(self, query: WordQuery) -> bool:
        """Whether so few items have a lead term that all of them can be scored by all terms."""
        return not query.every and sum(self.frequencies(query.lead).values()) <= limits.FIRST

    def _by_all(self, query: WordQuery, filters: Params, limit: int) -> WordHits:
        """Score items with a lead term by all terms: one query, which also finds the best score."""
        most = limit + limit // 2
        ranked = self._ranked_by_all(query, filters, most)
        found = [row for row in ranked if row[1] is not None]
        if len(found) < limit and len(ranked) == most:
            found = self._within_by_all(query, filters, limit)
        found.sort(key=lambda row: (-row[2], row[1], row[0]))
        return WordHits(
            hits=tuple(as_hits(found[:limit])),
            first=tuple(int(key) for key, _, _ in ranked[: limits.HELD_AGAINST]),
            scores={int(key): float(score) for key, _, score in ranked},
            by_all=True,
            whole=False,
        )

    def _by_lead(self, query: WordQuery, filters: Params, limit: int, most: int) -> WordHits:
        ranked = self._ranked(query, most)
        cut_short = len(ranked) == most
        found = self._let_through(ranked, filters, limit)
        if len(found) < limit and cut_short:
            found = self._ranked_within(query, filters, limit)
        return WordHits(
            hits=tuple(as_hits(found)),
            first=tuple(int(key) for key, _ in ranked[: limits.HELD_AGAINST]),
            scores={int(key): float(score) for key, score in ranked},
            whole=not cut_short,
        )

    def _ranked(self, query: WordQuery, limit: int) -> list[Row]:
        """Key and score of the best by the lead, whatever the filters."""
        return self._db.rows(SQL["ranked"], {**_lead(query), "limit": limit})

    def _ranked_by_all(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        """Key, id and score of the best by all terms; no id for what the filters leave out."""
        return self._db.rows(SQL["ranked_by_all"], {**_by_all(query), **filters, "limit": limit})

    def _within_by_all(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        """Key, id and score of the best by all terms that the filters leave."""
        return self._db.rows(SQL["within_by_all"], {**_by_all(query), **filters, "limit": limit})

    def _ranked_within(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        """Key, id and score of the best that the filters leave."""
        return self._db.rows(SQL["ranked_within"], {**_lead(query), **filters, "limit": limit})

    def _let_through(self, ranked: Sequence[Row], filters: Params, limit: int) -> list[Row]:
        """The first that the filters leave, looked up a few at a time: mostly all are left."""
        found: list[Row] = []
        step = limit + limit // 2
        for start in range(0, len(ranked), step):
            if len(found) >= limit and ranked[start][1] < found[limit - 1][2]:
                break  # none of the rest is as good as the last, whatever its id
            some: dict[int, float] = dict(ranked[start : start + step])
            rows = self._db.rows(SQL["let_through"], {**filters, "keys": in_list(list(some))})
            ids: dict[int, str] = dict(rows)
            found += [(key, ids[key], score) for key, score in some.items() if key in ids]
        return sorted(found, key=lambda row: (-row[2], row[1], row[0]))[:limit]

    def among(self, keys: Sequence[int], filters: Params) -> frozenset[int]:
        rows = self._db.rows(SQL["let_through"], {**filters, "keys": in_list(keys)})
        return frozenset(int(key) for key, _ in rows)

    def scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        if not query.terms or not keys:
            return {}
        match = matching(query.terms)
        params: dict[str, Value] = {**FIELD_WEIGHTS, "match": match, "keys": in_list(keys)}
        return {int(key): float(score) for key, score in self._db.rows(SQL["scores"], params)}

    def best(self, terms: Sequence[str], least: float, without: Sequence[str] = ()) -> float:
        """The best score of all items, or of those without some terms, if it exceeds `least`."""
        others = [term for term in terms if term not in without]
        some = alternatives(self._weights(others), least) if others else ()
        if not some:
            return least
        match, few = matching(others), matching_any(some)
        if without:
            few = f"({few}) NOT ({matching(without)})"
        params: dict[str, Value] = {**FIELD_WEIGHTS, "match": match, "some": few}
        rows = self._db.rows(SQL["best"], params)
        return max([least, *(float(score) for (score,) in rows)])

    def _weights(self, terms: Sequence[str]) -> dict[str, float]:
        """What each term counts at most; exactly that, unless items have been deleted."""
        known = self._term_counts()
        missing = [term for term in terms if term not in known.having]
        if missing:
            rows = self._db.rows(SQL["having"], {"terms": in_list(missing)})
            known.having.update(dict.fromkeys(missing, 1) | dict(rows))
        return {term: weight(known.items, known.having[term]) for term in terms}

    def _term_counts(self) -> TermCounts:
        """Return the counts that this thread has read since the last change."""
        now = self._db.moment()
        known: TermCounts | None = getattr(self._local, "term_counts", None)
        if known is None or known.moment != now or len(known.having) > MOST_COUNTED:
            known = TermCounts(now, self._db.rows(SQL["last_key"])[0][0], {})
            self._local.term_counts = known
        return known

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Looked up once, until this or another process has written something."""
        counted = self._counted()
        if missing := [term for term in terms if term not in counted]:
            found: dict[str, int] = dict(
                self._db.rows(SQL["frequencies"], {"terms": in_list(missing)})
            )
            counted |= {term: found.get(term) for term in missing}
        known = ((term, counted[term]) for term in terms)
        return {term: items for term, items in known if items is not None}

    def _counted(self) -> dict[str, int | None]:
        """What this thread has looked up since the last change; None for an unknown term."""
        now = self._db.moment()
        moment, counted = getattr(self._local, "counted", (None, {}))
        if moment != now or len(counted) > MOST_COUNTED:
            counted = {}
            self._local.counted = (now, counted)
        return counted

    def near(self, wanted: Sequence[str]) -> list[str]:
        return [str(row[0]) for row in self._db.rows(SQL["near"], {"variants": in_list(wanted)})]

    def beginning(self, beginning: str, limit: int) -> list[str]:
        rows = self._db.rows(SQL["beginning"], {"beginning": beginning, "limit": limit})
        return [str(row[0]) for row in rows]

    def take_census(self) -> None:
        """Goes through the whole text index, so only when the board has changed by a fifth since.

        What many writes have left in many segments becomes one first: searches are twice as quick.
        """
        now, before = self._db.rows(SQL["last_census"])[0]
        if before is not None and (now == before or abs(now - before) * 5 < before):
            return
        self._merge()
        with self._db.write() as tx:
            tx.execute(SQL["forget_census"])
            tx.execute(SQL["record_census"], {"now": time.time()})
            tx.execute(SQL["forget_common"])
            if now >= limits.COMMON_FROM:
                tx.execute(SQL["count_common"], {"least": limits.least_common(now)})

    def _merge(self) -> None:
        """In steps, so that others can write in between; one that is stopped loses nothing."""
        pages = -MERGED_AT_ONCE  # below zero, all segments are chosen; above, the work goes on
        for _ in range(MOST_STEPS):
            with self._db.write() as tx:
                before = tx.total_changes()
                tx.execute(SQL["merge"], {"pages": pages})
                if tx.total_changes() - before < 2:
                    return  # as FTS5 says that it had nothing to do
            pages = MERGED_AT_ONCE


def as_hits(rows: Sequence[Row]) -> list[LegHit]:
    return [
        LegHit(int(key), ItemId(str(item_id)), rank, float(score))
        for rank, (key, item_id, score) in enumerate(rows, start=1)
    ]


def matching(terms: Sequence[str], operator: str = " OR ") -> str:
    """What FTS5 is asked for. Quoted, a term is never syntax; a quote inside it is doubled."""
    return operator.join('"' + term.replace('"', '""') + '"' for term in terms)


def matching_any(found: Alternatives) -> str:
    """FTS5 expression for items that have one of the alternatives."""
    return " OR ".join(
        f"({matching([term])} AND ({matching_any(others)}))" if others else matching([term])
        for term, others in found
    )


def _by_all(query: WordQuery) -> Params:
    return {**FIELD_WEIGHTS, "match": matching(query.terms), "lead": matching(query.lead)}


def _lead(query: WordQuery) -> Params:
    match = matching(query.lead, " AND " if query.every else " OR ")
    return {**FIELD_WEIGHTS, "match": match}
