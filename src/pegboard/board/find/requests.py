"""Search for each request of a question that has several, and combine the answers.

"List my repositories, then open an issue in the newest" is answered by a search for each of the two
requests. `find` answers one request and never splits. A service that the question or one of its
requests opens with ("In GitHub, create a branch, then ...") also holds for the requests after it.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import chain
from typing import TypeVar

from pegboard.board.find.answering import NEAREST, Ask, FindSettings, find
from pegboard.board.find.patience import Patience
from pegboard.model.answers import Answer, Hit, RequestAnswer
from pegboard.model.items import Filters, Leg, Mode, WordQuery
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.search.query import MAX_CHARACTERS, parse
from pegboard.search.ranker import parse_card
from pegboard.search.requests import split_requests
from pegboard.search.services import scope
from pegboard.text import name_key

T = TypeVar("T")

LONGEST_TITLE = 300
"""Characters of a title, as the gate admits them: a longer question is no title."""
TITLE_HITS = 3
"""Items with all words of the question whose titles are compared: a whole title ranks first."""


def find_requests(
    store: Store,
    embedder: Embedder | None,
    ask: Ask,
    settings: FindSettings,
    *,
    beside: Executor | None = None,
    patience: Patience | None = None,
) -> Answer:
    """Answer every request of the question, one after the other, within one deadline.

    Once the deadline has passed, the remaining requests are not begun and count as late.
    """
    texts = requests_of(store, ask.text, ask.filters) if ask.split else (ask.text,)
    if len(texts) == 1:
        return find(store, embedder, ask, settings, beside=beside, patience=patience)
    done: list[Answer] = []
    for part in _parts(store, ask, texts):
        own = None
        if patience is not None:
            if done and not patience.left:
                break
            own = Patience(patience.seconds, patience.left)
            patience.so_far = partial(_so_far, ask, texts, tuple(done), own)
        done.append(find(store, embedder, part, settings, beside=beside, patience=own))
    return _with_missing(ask, texts, done, patience)


def requests_of(store: Store, text: str, filters: Filters) -> tuple[str, ...]:
    """Split a question, unless an item has it as its name or title.

    A question that has only one request is returned as it is.
    """
    texts = split_requests(text[:MAX_CHARACTERS])
    if len(texts) == 1 or _is_title(store, text, filters):
        return (text,)
    return texts


def _parts(store: Store, ask: Ask, texts: Sequence[str]) -> Iterator[Ask]:
    """Yield what to ask for each request, within the services that one before it opens with."""
    counts = store.index.source_counts()
    # Of a list, no request has the words in front of it: "In GitHub: 1. ...".
    services = scope(parse(ask.text), counts, ask.filters).opening
    for text, share in zip(texts, shares(ask.limit, len(texts)), strict=True):
        yield ask._replace(text=text, limit=share, split=False, services=services)
        services = scope(parse(text), counts, ask.filters).opening or services


def _is_title(store: Store, text: str, filters: Filters) -> bool:
    key = name_key(text)
    if not key or len(text) > LONGEST_TITLE:
        return False
    index, terms = store.index, parse(text).terms
    _, named = index.first_look((), key, filters, 1)
    if named or not terms:
        return bool(named)
    found = index.keyword(WordQuery(terms, lead=terms, every=True), filters, TITLE_HITS)
    cards = index.cards([hit.key for hit in found.hits])
    return any(parse_card(each).title_key == key for each in cards.values())


def shares(limit: int, requests: int) -> list[int]:
    """Distribute the limit over the requests: as evenly as possible, and at least one hit each."""
    each, left = divmod(limit, requests)
    return [max(each + (place < left), 1) for place in range(requests)]


def combined(texts: Sequence[str], answers: Sequence[Answer]) -> Answer:
    """Combine the answers to the requests of one question.

    Scores belong to a request, so hits are interleaved and not sorted by score.
    """
    hits = interleaved([each.hits for each in answers])
    nearest = () if hits else interleaved([each.nearest for each in answers])[:NEAREST]
    return Answer(
        hits=hits,
        nearest=nearest,
        notices=_unique(chain.from_iterable(each.notices for each in answers)),
        embed_seconds=sum(each.embed_seconds for each in answers),
        search_seconds=sum(each.search_seconds for each in answers),
        late=_unique(chain.from_iterable(each.late for each in answers)),
        requests=tuple(map(RequestAnswer, texts, answers)),
    )


def interleaved(lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Interleave the hits of several requests; an item stays where it comes first."""
    found: dict[tuple[str, str], Hit] = {}
    for hit in in_turn(lists):
        found.setdefault((hit.namespace, hit.id), hit)
    return tuple(found.values())


def in_turn(lists: Sequence[Sequence[T]]) -> Iterator[T]:
    """Yield the first of each list, then the second of each, and so on."""
    for place in range(max(map(len, lists), default=0)):
        yield from (each[place] for each in lists if place < len(each))


def _so_far(ask: Ask, texts: Sequence[str], done: Sequence[Answer], own: Patience) -> Answer:
    """The answer so far, for another thread to ask for while a request is searched."""
    begun = own.so_far
    return _with_missing(ask, texts, [*done, begun()] if begun is not None else done, own)


def _with_missing(
    ask: Ask, texts: Sequence[str], done: Sequence[Answer], patience: Patience | None
) -> Answer:
    """Combine the answers, with those of requests that were not begun marked late."""
    seconds = patience.seconds if patience else 0.0
    missing = Answer(
        hits=(),
        notices=(f"not every request was looked up within {seconds:g} s",),
        late=tuple(_retrievers(ask.mode)),
    )
    return combined(texts, [*done, *[missing] * (len(texts) - len(done))])


def _retrievers(mode: Mode) -> Iterator[Leg]:
    if mode is not Mode.VECTOR:
        yield Leg.FUZZY if mode is Mode.FUZZY else Leg.BM25
    if mode in (Mode.HYBRID, Mode.VECTOR):
        yield Leg.VECTOR


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
