"""Words for whoever sees some namespaces: found, weighed and spelled as if there were no others."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegboard.model.items import WordQuery
from pegboard.store import limits
from pegboard.store.queries import load
from pegboard.store.sqlite.database import Database, Row, Value, in_list
from pegboard.store.sqlite.picture import Picture, Pictures
from pegboard.store.sqlite.words import Params, Words
from pegboard.store.weighing import DIGITS, EVEN, tilt, weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SQL = load("sqlite", "seen_words")

AT_ONCE = 5_000
"""So many keys are looked up in one query."""


class SeenWords(Words):
    """As if the board had nothing but what is public in the open namespaces."""

    def __init__(self, database: Database, pictures: Pictures, open_to: tuple[str, ...]) -> None:
        super().__init__(database)
        self._pictures = pictures
        self._open = open_to

    def keys(self, namespaces: tuple[str, ...]) -> "NDArray[np.int64]":
        """All that is public in these namespaces, if they are open."""
        picture = self._pictures.latest()
        return picture.keys[picture.sight(namespaces).shown]

    def _ranked(self, query: WordQuery, limit: int) -> list[Row]:
        return self._in_order(query)[:limit]

    def _ranked_by_all(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        ranked = self._in_order(query, by_all=True)[:limit]
        keys = in_list([key for key, _ in ranked])
        ids: dict[int, str] = dict(self._db.rows(SQL["let_through"], {**filters, "keys": keys}))
        return [(key, ids.get(key), score) for key, score in ranked]

    def _ranked_within(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        return self._let_through_all(self._in_order(query), filters)[:limit]

    def _within_by_all(self, query: WordQuery, filters: Params, limit: int) -> list[Row]:
        return self._let_through_all(self._in_order(query, by_all=True), filters)[:limit]

    def _let_through_all(self, ranked: Sequence[Row], filters: Params) -> list[Row]:
        scores: dict[int, float] = dict(ranked)
        keys, found = list(scores), []
        for start in range(0, len(keys), AT_ONCE):
            some = in_list(keys[start : start + AT_ONCE])
            rows = self._db.rows(SQL["let_through"], {**filters, "keys": some})
            found += [(key, item_id, scores[key]) for key, item_id in rows]
        return sorted(found, key=lambda row: (-row[2], row[1], row[0]))

    def _in_order(self, query: WordQuery, *, by_all: bool = False) -> list[Row]:
        """Key and score of each item with any term of the lead, or with every; the best first."""
        import numpy as np

        picture = self._pictures.latest()
        scores, having = self._weighed(picture, query.lead)
        if by_all:
            scores, _ = self._weighed(picture, query.terms)
        places = np.flatnonzero(having >= (len(query.lead) if query.every else 1))
        order = places[np.lexsort((picture.keys[places], -scores[places]))]
        return list(zip(picture.keys[order].tolist(), scores[order].tolist(), strict=True))

    def scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        if not query.terms or not keys:
            return {}
        picture = self._pictures.latest()
        scores, having = self._weighed(picture, query.terms)
        places, _ = picture.places(sorted(keys))
        places = places[having[places] > 0]
        return dict(zip(picture.keys[places].tolist(), scores[places].tolist(), strict=True))

    def best(self, terms: Sequence[str], least: float, without: Sequence[str] = ()) -> float:
        scores, _ = self._weighed(self._pictures.latest(), terms)
        return max(float(scores.max(initial=0.0)), least)

    def _weighed(
        self, picture: Picture, terms: Sequence[str]
    ) -> "tuple[NDArray[np.float64], NDArray[np.intp]]":
        """BM25 of every item that is shown, and how many of the terms it has."""
        import numpy as np

        sight = picture.sight(self._open)
        scores, having = np.zeros(len(picture.keys)), np.zeros(len(picture.keys), np.intp)
        longer = picture.lengths * tilt(sight.items, sight.terms)
        for term in terms:
            places, frequencies = picture.posting(term, self._db)
            shown = sight.shown[places]
            places, frequencies = places[shown], frequencies[shown]
            telling = weight(sight.items, len(places))
            scores[places] += telling * frequencies / (frequencies + EVEN + longer[places])
            having[places] += 1
        return np.round(scores, DIGITS), having

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        picture = self._pictures.latest()
        items, shown = picture.sight(self._open).items, picture.sight(self._open).shown
        common = limits.least_common(items) if items >= limits.COMMON_FROM else items + 1
        found = {term: int(shown[picture.posting(term, self._db).places].sum()) for term in terms}
        return {term: many if many >= common else 0 for term, many in found.items() if many}

    def near(self, wanted: Sequence[str]) -> list[str]:
        params: dict[str, Value] = {"variants": in_list(wanted), "open": in_list(self._open)}
        return [str(word) for (word,) in self._db.rows(SQL["near"], params)]

    def beginning(self, beginning: str, limit: int) -> list[str]:
        params: dict[str, Value] = {
            "beginning": beginning,
            "limit": limit,
            "open": in_list(self._open),
        }
        return [str(word) for (word,) in self._db.rows(SQL["beginning"], params)]
