"""Queries that a new item would take away from the item that answers them rightly today.

Nothing is put on the board. What its queries find there is hung on a board for the purpose, and
those are asked again, without the new item and with it. Words are rarer or commoner on so small a
board, and nobody has used its items: where two come near each other it may judge otherwise.
"""

import math
import tempfile
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import mul
from pathlib import Path
from typing import NamedTuple

from pegboard.board.create.alike import Search
from pegboard.board.find.answering import Ask, FindSettings
from pegboard.board.find.requests import find_requests
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.board.measure.evaluating import CUTOFF, EvalQuery, name_of, places
from pegboard.errors import ItemAmbiguous, ItemNotFound
from pegboard.model.answers import Hit
from pegboard.model.content import EMPTY
from pegboard.model.items import Entry, Filters, Item, ItemId, Vector, Visibility
from pegboard.ports.stages import Embedder, Progress
from pegboard.ports.store import Store
from pegboard.store.opening import open_store
from pegboard.text import embedded_passages, embedding_text, index_fields, terms

MOST_ASKED = 200
"""So many queries are asked at most, those that are most like the item."""
MOST_COMPARED = 1_000
"""Of so many it is seen by meaning how much they are like it; before that, by words."""
TRIAL_LIMIT = 30

_Place = tuple[str, ItemId]
"""Namespace and id."""


class Looking(NamedTuple):
    """What it takes of a board, which may be behind a gateway."""

    search: Search
    show: Callable[[str], Entry]
    """The item with this `namespace/id`; its files are not needed."""
    embedder: Embedder | None
    """The board's own, or one like it; without one, words decide alone."""
    settings: FindSettings = FindSettings()


class Taken(NamedTuple):
    query: str
    """Its id in the evaluation."""
    text: str
    first: ItemId
    """What answers it today, and is right."""
    namespace: str
    score: float
    """Of that one, beside the new item."""
    own_score: float
    """Of the new item."""


class Compared(NamedTuple):
    taken: tuple[Taken, ...] = ()
    asked: int = 0
    """Queries that were asked of the board."""
    right: int = 0
    """Those of them that are answered rightly today."""


class _Answered(NamedTuple):
    query: EvalQuery
    hits: Sequence[Hit]
    """The first of them is right."""


def compare(
    item: Item, queries: Sequence[EvalQuery], board: Looking, progress: Progress
) -> Compared:
    asked = most_like(item, queries, board.embedder)
    today = []
    for number, query in enumerate(asked, start=1):
        hits = board.search(query.text, limit=CUTOFF, filters=Filters(), threshold=0.0).hits
        if hits and _is_right(query, hits[0].id) and not _is_right(query, item.id):
            today.append(_Answered(query, hits))
        progress("asking", number, len(asked))
    if not today:
        return Compared(asked=len(asked))
    found = _items_of(today, board.show, progress)
    today = [each for each in today if _place(each.hits[0]) in found]
    with _Trial.of(found.values(), board) as trial:
        before = [trial.ask(each.query) for each in today]
        trial.hang([item])
        after = [trial.ask(each.query) for each in today]
    own = (item.namespace, item.id)
    lost = [_taken(*each, own) for each in zip(today, before, after, strict=True)]
    return Compared(tuple(each for each in lost if each), len(asked), len(today))


def _is_right(query: EvalQuery, item_id: str) -> bool:
    return bool(places(query, [name_of(item_id, query)]))


def _taken(
    today: _Answered, before: Sequence[Hit], after: Sequence[Hit], own: _Place
) -> Taken | None:
    """Only if the new item comes first there, where what it was before did not."""
    right = _place(today.hits[0])
    if right == own or not _is_ahead(own, right, after) or _is_ahead(own, right, before):
        return None
    scores = {_place(hit): hit.score for hit in after}
    query = today.query
    return Taken(query.id, query.text, right[1], right[0], scores.get(right, 0.0), scores[own])


def _is_ahead(one: _Place, other: _Place, hits: Sequence[Hit]) -> bool:
    order = [_place(hit) for hit in hits]
    return one in order and (other not in order or order.index(one) < order.index(other))


def _place(hit: Hit) -> _Place:
    return hit.namespace, hit.id


def _items_of(
    today: Sequence[_Answered], show: Callable[[str], Entry], progress: Progress
) -> Mapping[_Place, Item]:
    """What was found, as far as it is there still."""
    wanted = dict.fromkeys(_place(hit) for each in today for hit in each.hits)
    found: dict[_Place, Item] = {}
    for number, place in enumerate(wanted, start=1):
        try:
            found[place] = show("/".join(place)).item
        except (ItemNotFound, ItemAmbiguous):
            continue
        finally:
            progress("reading", number, len(wanted))
    return found


class _Trial:
    """A board that is gone afterwards."""

    def __init__(self, store: Store, board: Looking) -> None:
        self.store = store
        self.embedder = board.embedder
        self.settings = board.settings

    @classmethod
    @contextmanager
    def of(cls, items: Iterable[Item], board: Looking) -> Iterator["_Trial"]:
        with tempfile.TemporaryDirectory(prefix="pegboard-trial-") as folder:
            store = open_store(Path(folder) / "board.db", create=True)
            try:
                trial = cls(store, board)
                trial.hang(items)
                yield trial
            finally:
                store.close()

    def hang(self, items: Iterable[Item]) -> None:
        target = self.embedder.fingerprint if self.embedder else None
        self.store.items.put([_bare(each) for each in items], target)
        if self.embedder is not None:
            worker = Worker(self.store, self.embedder, WorkerSettings())
            worker.drain(threading.Event(), lambda step, done, total: None)
        self.store.items.take_census()

    def ask(self, query: EvalQuery) -> Sequence[Hit]:
        asked = Ask(query.text, limit=TRIAL_LIMIT, threshold=0.0)
        return find_requests(self.store, self.embedder, asked, self.settings).hits


def _bare(item: Item) -> Item:
    """As much of it as search looks at, and nothing that another board would refuse."""
    return item._replace(
        source="trial",
        origin=item.reference,
        visibility=Visibility.PUBLIC,
        executor=EMPTY,
        links=(),
        skills=(),
        permissions=(),
        version=None,
        signature=None,
    )


def most_like(
    item: Item, queries: Sequence[EvalQuery], embedder: Embedder | None
) -> list[EvalQuery]:
    """Those that the item is likeliest to be found by, first; all of them if they are few."""
    own = {term for field in index_fields(item) for term in field.split()}
    by_words = sorted(queries, key=lambda each: -_share(own, each.text))
    if len(queries) <= MOST_ASKED or embedder is None:
        return by_words[:MOST_ASKED]
    vectors = embedder.embed(embedded_passages(embedding_text(item)))
    near = [
        (max(_cosine(embedder.embed_query(each.text), vector) for vector in vectors), each)
        for each in by_words[:MOST_COMPARED]
    ]
    near.sort(key=lambda pair: -pair[0])
    return [each for _, each in near[:MOST_ASKED]]


def _share(own: set[str], text: str) -> float:
    asked = {*terms(text)}
    return len(asked & own) / len(asked) if asked else 0.0


def _cosine(one: Vector, other: Vector) -> float:
    a, b = array("f", one), array("f", other)
    lengths = math.hypot(*a) * math.hypot(*b)
    return sum(map(mul, a, b)) / lengths if lengths else 0.0
