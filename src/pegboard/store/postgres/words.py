"""Words in PostgreSQL: BM25 over a table of terms, how words are spelled, the commonest terms."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.model.items import FirstLook, ItemId, LegHit, Spellings, WordHits, WordQuery
from pegboard.store import limits
from pegboard.store.postgres.database import Connection, Database, Row, run
from pegboard.store.postgres.memory import Memory
from pegboard.store.postgres.term_index import LONGEST_TERM
from pegboard.store.queries import load
from pegboard.store.weighing import DIGITS, tilt, weight

SQL = load("postgres", "words")
PLAIN = load("postgres", "words", filters="visible")
"""The same without filters: most searches have none, and these are planned once."""
FIRST_LOOK = (
    PLAIN["first_look"]
    .replace(":frequencies", SQL["frequencies"])
    .replace(":named", PLAIN["named"])
)
Params = Mapping[str, object]


class Known(NamedTuple):
    """How many items have a term."""

    about: int
    """As the port has it: 0 for a rare one."""
    items: int


Counted = dict[str, Known | None]
"""What is known of terms that were looked up, if anything is."""


class Words:
    def __init__(self, database: Database, memory: Memory) -> None:
        self._db = database
        self._memory = memory

    def keyword(self, query: WordQuery, filters: Params, limit: int) -> WordHits:
        if not query.lead:
            return WordHits()
        exact = query.lead == query.terms and not query.every
        by_all = not exact and self._leads_to_few(query)
        params = self._weighed(query.lead) | {"least": len(query.lead) if query.every else 1}
        others = self._weighed(() if exact else [t for t in query.terms if t not in query.lead])
        most = limits.FIRST if exact or by_all else 2 * limit
        looked_at = most if by_all else limit + limit // 2
        scored = most if by_all else limit
        ask = {
            **params,
            **filters,
            "limit": most,
            "looked_at": looked_at,
            "scored": scored,
            "other_terms": others["terms"],
            "other_weights": others["weights"],
        }
        queries = SQL if filters else PLAIN
        ranked = self._db.rows(queries["ranked"], ask, prepare=not filters)
        if by_all:
            ranked = _by_all_terms(ranked)
        cut_short = len(ranked) == most
        found = self._let_through(ranked, looked_at, filters, limit)
        if len(found) < limit and cut_short:
            ask = {"namespaces": None, **params, **filters, "limit": limit}
            found = self._db.rows(queries["ranked_within"], ask)
        return WordHits(
            hits=tuple(as_hits(found)),
            first=tuple(int(key) for key, *_ in ranked[: limits.HELD_AGAINST]),
            scores={
                int(key): round(score + (rest or 0.0), DIGITS)
                for key, _, score, rest in (ranked if exact else ranked[:scored])
            },
            by_all=by_all and not cut_short,
            whole=exact and not cut_short,
        )

    def _leads_to_few(self, query: WordQuery) -> bool:
        """Whether so few items have a lead term that all of them can be scored by all terms."""
        return not query.every and sum(self.frequencies(query.lead).values()) <= limits.FIRST

    def _let_through(
        self, ranked: Sequence[Row], looked_at: int, filters: Params, limit: int
    ) -> list[Row]:
        """The first that the filters leave, looked up a few at a time: mostly all are left."""
        found = [row[:3] for row in ranked if row[1] is not None]
        for start in range(looked_at, len(ranked), max(looked_at, 1)):
            if len(found) >= limit and ranked[start][2] < found[limit - 1][2]:
                break  # none of the rest is as good as the last, whatever its id
            some = {key: score for key, _, score, _ in ranked[start : start + looked_at]}
            ids = self._seen(list(some), filters)
            found += [(key, ids[key], score) for key, score in some.items() if key in ids]
        return sorted(found, key=lambda row: (-row[2], row[1], row[0]))[:limit]

    def among(self, keys: Sequence[int], filters: Params) -> frozenset[int]:
        return frozenset(self._seen(keys, filters))

    def _seen(self, keys: Sequence[int], filters: Params) -> dict[int, str]:
        params = {**filters, "keys": list(keys)}
        sql = (SQL if filters else PLAIN)["let_through"]
        return dict(self._db.rows(sql, params, prepare=not filters))

    def scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        if not query.terms or not keys:
            return {}
        params = self._weighed(query.terms) | {"keys": list(keys)}
        return {
            int(key): round(float(score), DIGITS)
            for key, score in self._db.rows(SQL["scores"], params, prepare=True)
        }

    def best(self, terms: Sequence[str], least: float, without: Sequence[str] = ()) -> float:
        """The best score of all items, or of those without some terms, if it exceeds `least`."""
        others = [term for term in terms if term not in without]
        if sum(self._weights(others).values()) <= least:
            return least  # an item scores less than the weights of its terms together
        params = self._weighed(others) | {"least": least}
        score = self._db.rows(SQL["best"], params, prepare=True)[0][0]
        return least if score is None else max(round(float(score), DIGITS), least)

    def first_look(
        self, terms: Sequence[str], name_key: str, filters: Params, limit: int
    ) -> FirstLook:
        counted: Counted = self._memory.table("terms")
        missing = [term for term in terms if term not in counted]
        params = {**filters, "name_key": name_key.replace("\0", ""), "limit": limit}
        if missing and name_key and not filters:
            rows = self._db.rows(FIRST_LOOK, self._counting(missing) | params, prepare=True)
            _learn(counted, missing, [row[:3] for row in rows if row[3] is None])
            named: list[Row] = [(key, item_id) for item_id, _, _, key in rows if key is not None]
            frequencies = _about(_recalled(counted, terms))
        else:
            frequencies = self.frequencies(terms)
            sql = (SQL if filters else PLAIN)["named"]
            named = self._db.rows(sql, params, prepare=not filters) if name_key else []
        return FirstLook(frequencies, as_hits([(*row, 1.0) for row in named]))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        return _about(self._known(terms))

    def _weighed(self, terms: Sequence[str]) -> dict[str, object]:
        """The terms with what each counts, and how long an item is on the average."""
        items, length = self._statistics()
        weights = self._weights(terms)
        return {
            "terms": list(weights),
            "weights": list(weights.values()),
            "tilt": tilt(items, length),
        }

    def _weights(self, terms: Sequence[str]) -> dict[str, float]:
        items, _ = self._statistics()
        known = self._known(terms)
        return {t[:LONGEST_TERM]: weight(items, known[t].items) for t in terms if t in known}

    def _statistics(self) -> tuple[int, int]:
        """How many items there are, and how many terms they have."""
        return self._memory.recall("statistics", self._read_statistics)

    def _read_statistics(self) -> tuple[int, int]:
        items, terms = self._db.rows(SQL["counted"])[0]
        if items < limits.COMMON_FROM:
            items, terms = self._db.rows(SQL["count"])[0]
        return items, terms

    def _known(self, terms: Sequence[str]) -> dict[str, Known]:
        """Looked up once, until somebody has written something."""
        counted: Counted = self._memory.table("terms")
        if missing := [term for term in terms if term not in counted]:
            rows = self._db.rows(SQL["frequencies"], self._counting(missing), prepare=True)
            _learn(counted, missing, rows)
        return _recalled(counted, terms)

    def _counting(self, terms: Sequence[str]) -> dict[str, object]:
        cut = dict.fromkeys(term[:LONGEST_TERM] for term in terms)
        return {"terms": list(cut), "least": limits.least_common(self._statistics()[0])}

    def like(self, variants: Sequence[str], beginnings: Sequence[str], limit: int) -> Spellings:
        params = {"variants": list(variants), "beginnings": list(beginnings), "limit": limit}
        found = Spellings([], {beginning: [] for beginning in beginnings})
        for beginning, word in self._db.rows(SQL["like"], params, prepare=True):
            (found.near if beginning is None else found.longer[beginning]).append(word)
        return found

    def take_census(self) -> None:
        """Goes through all terms, so only when the board has changed by a fifth since the last."""
        if self._db.caller is not None:
            return  # whoever does not see all items cannot count them
        now, before = self._db.rows(SQL["last_census"])[0]
        if before is not None and (now == before or abs(now - before) * 5 < before):
            return

        def work(tx: Connection) -> None:
            if not run(tx, SQL["lock_census"])[0][0]:
                return  # somebody else is at it
            for step in ("forget_census", "record_census", "forget_common"):
                run(tx, SQL[step])
            if now >= limits.COMMON_FROM:
                params: Params = {
                    "least": limits.least_common(now),
                    "common": limits.COMMON,  # these two as in the policy of common_terms
                    "least_common": limits.LEAST_COMMON,
                }
                run(tx, SQL["count_common"], params)
                run(tx, SQL["count_common_of_all"], params)

        self._db.write(work, tell=True)


def _learn(counted: Counted, terms: Sequence[str], rows: Sequence[Row]) -> None:
    fresh = {term: Known(common or 0, common or exact) for term, common, exact in rows}
    counted.update((term, fresh.get(term[:LONGEST_TERM])) for term in terms)


def _recalled(counted: Counted, terms: Sequence[str]) -> dict[str, Known]:
    found = {term: counted.get(term) for term in terms}
    return {term: known for term, known in found.items() if known is not None}


def _about(known: Mapping[str, Known]) -> dict[str, int]:
    return {term: each.about for term, each in known.items()}


def _by_all_terms(ranked: Sequence[Row]) -> list[Row]:
    """Rows with the score over all terms in place of that over the lead, the best first."""
    scored = [
        (key, name, round(led + (rest or 0.0), DIGITS), 0.0) for key, name, led, rest in ranked
    ]
    return sorted(scored, key=lambda row: (-row[2], row[0]))


def as_hits(rows: Sequence[Row]) -> list[LegHit]:
    return [
        LegHit(int(key), ItemId(str(item_id)), rank, round(float(score), DIGITS))
        for rank, (key, item_id, score) in enumerate(rows, start=1)
    ]
