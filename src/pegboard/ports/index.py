"""What a store promises about finding items."""

from collections.abc import Sequence
from typing import Protocol

from pegboard.model.items import (
    Entry,
    Filters,
    Fingerprint,
    FirstLook,
    LegHit,
    SourceCounts,
    Spellings,
    Vector,
    WordHits,
    WordQuery,
)


class Index(Protocol):
    """The legs. Filters apply before ranking; equal scores are ordered by id.

    An item is as near to a query as the nearest of its passages, which are counted from 0.
    """

    def first_look(
        self, terms: Sequence[str], name_key: str, filters: Filters, limit: int
    ) -> FirstLook:
        """The frequencies of all terms, whatever the filters, and as many named items as asked."""
        ...

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """As the first look has them, for terms that come up later."""
        ...

    def keyword(self, query: WordQuery, filters: Filters, limit: int) -> WordHits:
        """BM25 over all fields, for items with any term of the lead or, if asked, with every."""
        ...

    def keyword_scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        """BM25 over all terms of the query for these items; nothing for one that has none."""
        ...

    def best_keyword_score(
        self, terms: Sequence[str], least: float, without: Sequence[str] = ()
    ) -> float:
        """Return the best score of any item for these terms; `least` if none exceeds it.

        Whatever the filters: of a caller's view, the best item that search can find there. Items
        that have one of the terms in `without` are skipped: the caller knows that none of them
        exceeds `least`.
        """
        ...

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]: ...

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]: ...

    def best_passages(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, int]: ...

    def among(self, keys: Sequence[int], filters: Filters) -> frozenset[int]:
        """Those of these items that the filters leave."""
        ...

    def words_like(
        self, variants: Sequence[str], beginnings: Sequence[str], limit: int
    ) -> Spellings:
        """Words near the variants (`pegboard.text.variants`), and so many for each beginning."""
        ...

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]: ...

    def cards(self, keys: Sequence[int]) -> dict[int, str]:
        """Return the ranking cards (`pegboard.text.card`) of the items that the caller can see."""
        ...

    def source_counts(self) -> SourceCounts:
        """Count the items that can be found by source. The counts may be a second old."""
        ...

    def listed(self, filters: Filters, after: tuple[str, str], limit: int) -> list[Entry]:
        """What the filters leave, by id and namespace, from the one after `after`."""
        ...
