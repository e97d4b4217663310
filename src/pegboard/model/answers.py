"""What a search answers with, and how it explains itself."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pegboard.model.items import ItemId, Kind, MatchType, qualified


class Place(NamedTuple):
    """Where an item hangs, of several tiers that have it."""

    tier: str
    namespace: str
    id: ItemId
    version: str = ""
    signed: str = ""
    """What checking its signature brought; empty if it has none."""
    differs: bool = False
    """Whether it is not, to the letter, what hangs at the first of the places."""


class TierState(NamedTuple):
    """How a tier answered a search."""

    name: str
    state: str
    """`ok`, `slow`, `down` or `empty`: there is no such board yet."""
    hits: int = 0
    seconds: float = 0.0
    error: str = ""


class Hit(NamedTuple):
    id: ItemId
    kind: Kind
    namespace: str
    name: str
    category: str
    source: str
    description: str
    score: float
    match_type: MatchType
    breakdown: Mapping[str, Mapping[str, float]]
    reason: str
    signature: str = ""
    """The call in one line: name, parameters, types."""
    like_it: tuple[ItemId, ...] = ()
    """Near-duplicates that were left out for this one, if that was asked for."""
    notes: tuple[str, ...] = ()
    """What to know before calling it, such as that its server is down."""
    passage: str = ""
    """Where in a long text it was found: the heading and a sentence, on one line."""
    version: str = ""
    version_hash: str = ""
    """Of the version's manifest and files: the same content has the same one everywhere."""
    author: str = ""
    signer: str = ""
    """The key that it is signed with."""
    signed: str = ""
    """What checking the signature brought: `trusted`, or why it is not; empty if there is none."""
    tier: str = ""
    """Whose board it hangs on, if several were searched."""
    places: tuple[Place, ...] = ()
    """All of them that have it, the nearest first."""
    title: str = ""
    """One line that says what it does or is called in full; empty if its source gives none."""
    fit: float = 0.0
    """The probability that it fits the request, whatever else does; the threshold goes by it."""


class WordFact(NamedTuple):
    """What became of one word of the query."""

    term: str
    known: bool
    used: bool
    """Whether the keyword leg looked for it: the commonest words are left out on large boards."""
    items: int | None
    """About how many items have it; None if it is rare."""
    read_as: tuple[str, ...] = ()
    """The known words that a misspelled one was taken for."""


class HitFact(NamedTuple):
    """How one item came by its score."""

    id: ItemId
    fields: Mapping[str, tuple[str, ...]]
    """The query's terms by the field that has them."""
    ranks: Mapping[str, int]
    raw: Mapping[str, float]
    """The score each leg gave."""
    meaning: float
    words: float
    """What meaning and words add to the fused value, weighted."""
    boosts: Mapping[str, float]
    fused: float
    score: float
    fate: str
    """`shown`, or why not."""
    fit: float = 0.0
    """The probability that it fits the request at all, whatever else does."""
    ranker: float = 0.0
    """What agreement of names, titles, verbs and parameters adds to the fused value."""
    ranked_by: tuple[str, ...] = ()
    """What the ranker found for and against the item, in phrases."""


class Explanation(NamedTuple):
    """Why this order: the query as it was understood, the weights, and each item's way."""

    query: str
    words: tuple[WordFact, ...]
    weights: Mapping[str, float]
    threshold: float
    items: tuple[HitFact, ...]
    services: tuple[str, ...] = ()
    """Sources that the query names: only these were searched."""


class Answer(NamedTuple):
    """Hits in order, what the caller should know about them, and the seconds that went where."""

    hits: tuple[Hit, ...]
    """If the question has several requests: theirs, interleaved, each item once."""
    notices: tuple[str, ...] = ()
    embed_seconds: float = 0.0
    search_seconds: float = 0.0
    nearest: tuple[Hit, ...] = ()
    """If nothing reaches the threshold: the three that come nearest to it."""
    explanation: Explanation | None = None
    late: tuple[str, ...] = ()
    """The legs that were waited for in vain, if there was a bound to that."""
    tiers: tuple[TierState, ...] = ()
    """The tiers that were asked, if it was not only one board."""
    requests: tuple["RequestAnswer", ...] = ()
    """Each request of the question with its own answer; empty if the question has only one."""

    def with_hits(self, change: Callable[[Hit], Hit]) -> "Answer":
        """Return the answer with every hit replaced, those of its requests included."""
        return self._replace(
            hits=tuple(map(change, self.hits)),
            nearest=tuple(map(change, self.nearest)),
            requests=tuple(
                each._replace(answer=each.answer.with_hits(change)) for each in self.requests
            ),
        )

    def with_notices(self, change: Callable[[str], str]) -> "Answer":
        """Return the answer with every notice replaced, those of its requests included."""
        return self._replace(
            notices=tuple(map(change, self.notices)),
            requests=tuple(
                each._replace(answer=each.answer.with_notices(change)) for each in self.requests
            ),
        )

    def as_document(self) -> dict[str, object]:
        """Return the fields as JSON has them; `requests` only if there are several."""
        found: dict[str, object] = self._asdict()
        del found["requests"]
        if self.requests:
            found["requests"] = tuple(each.listed() for each in self.requests)
        return found


class RequestAnswer(NamedTuple):
    """One request of a question that has several, and the answer to it alone."""

    text: str
    answer: Answer

    def listed(self) -> "RequestHits":
        """Return it as JSON has it."""
        own = self.answer
        return RequestHits(
            query=self.text,
            hits=tuple(qualified(hit.namespace, hit.id) for hit in own.hits),
            nearest=own.nearest,
            notices=own.notices,
            explanation=own.explanation,
            late=own.late,
        )


class RequestHits(NamedTuple):
    """One request in the JSON of an answer."""

    query: str
    hits: tuple[str, ...] = ()
    """The ids of its hits, best first; the hits themselves are in the answer's `hits`."""
    nearest: tuple[Hit, ...] = ()
    """If no tool fits this request. In full: they may be nowhere else in the answer."""
    notices: tuple[str, ...] = ()
    explanation: Explanation | None = None
    late: tuple[str, ...] = ()

    def answer_from(self, hits: Mapping[str, Hit]) -> RequestAnswer:
        """Rebuild the request's answer from the hits of the whole, by their ids."""
        own = tuple(hits[each] for each in self.hits if each in hits)
        answer = Answer(
            hits=own,
            notices=self.notices,
            nearest=() if own else self.nearest,
            explanation=self.explanation,
            late=self.late,
        )
        return RequestAnswer(self.query, answer)


def as_score(score: float) -> str:
    """Two digits, rounded down: what misses a threshold never looks as if it had reached it."""
    return f"{math.floor(score * 100 + 1e-9) / 100:.2f}"
