"""Calibrate a model on the board's own content, without labels.

The board's titles, examples and first sentences are questions that it serves, and
`search/unserved.txt` has questions that no board serves. Each is compared with a sample of the
items by two models: the one to calibrate, with the vectors that are stored, and the packaged one,
which the parameters of the search were fitted for.
"""

from array import array
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.errors import EmbeddingError, ModelUnavailable, UsageError
from pegboard.model.items import Calibration, Entry, Fingerprint, Vector
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.search import cosine_scale
from pegboard.search.cosine_scale import CosineScale, fit_scale
from pegboard.search.query import parse
from pegboard.text import embedded_passages, embedding_text, first_sentence, title

LEAST_ITEMS = 20
"""Items with a vector below which cosines say too little about a model."""
MOST_ITEMS, MOST_PASSAGES = 300, 600
"""Bounds of what the packaged model has to embed: a few seconds on two cores.

`LEAST_ITEMS` are taken however many passages they have: up to 64 each.
"""
MOST_SERVED, MOST_UNSERVED = 120, 120
"""Maximum numbers of questions. Each costs one request to the embedding service."""
LEAST_QUESTIONS = 40
"""Questions that the packaged model can read below which two models cannot be compared."""
CONCURRENT_QUESTIONS = 4
LONGEST_QUESTION = 300
"""Characters of a question."""
UNSERVED = Path(cosine_scale.__file__).with_name("unserved.txt")


class Questions(NamedTuple):
    """What is asked, as a search would embed it."""

    served: tuple[str, ...]
    unserved: tuple[str, ...]


class Shares(NamedTuple):
    """Shares of the questions that are answered at a threshold."""

    served: float
    unserved: float


class Trial(NamedTuple):
    """A calibration, the questions it was fitted on and their vectors."""

    calibration: Calibration
    questions: Questions
    embedder: "AskedBefore"


class AskedBefore:
    """An embedder that has embedded these queries already."""

    def __init__(self, embedder: Embedder, queries: Sequence[str]) -> None:
        self._embedder = embedder
        self.fingerprint = embedder.fingerprint
        with ThreadPoolExecutor(CONCURRENT_QUESTIONS) as pool:
            self.vectors = dict(zip(queries, pool.map(embedder.embed_query, queries), strict=True))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> Vector:
        return self.vectors.get(text) or self._embedder.embed_query(text)

    def close(self) -> None:
        """Do nothing: the caller closes the embedder."""


def is_packaged(model: Fingerprint) -> bool:
    return model.provider == "local"


def fit_calibration(store: Store, embedder: Embedder, packaged: Embedder) -> Trial:
    """Fit the scale of a model to the packaged one.

    Items and questions that the packaged model cannot read are left out. Raises `UsageError` if
    too few remain, if the board has too few items with a vector of the model, or if the model tells
    nothing apart.
    """
    key = embedder.fingerprint.key
    entries = _with_vectors(store, embedder, sample(store))
    if len(entries) < LEAST_ITEMS:
        raise UsageError(
            f"too early to calibrate {key}: {len(entries)} items have its vectors, at least "
            f"{LEAST_ITEMS} are needed",
            "add more items, then: pegboard model calibrate",
        )
    entries = _readable_items(packaged, entries)
    _require_readable(key, len(entries), LEAST_ITEMS, "items of this board")
    questions, vectors = _readable_questions(packaged, questions_of(entries))
    _require_readable(key, len(vectors), LEAST_QUESTIONS, "questions")
    asked = AskedBefore(embedder, list(vectors))
    own = _stored_cosines(store, asked, entries)
    scale = fit_scale(own, _cosines(packaged, vectors, entries))
    if scale is None:
        raise UsageError(
            f"{key} cannot be calibrated: its cosines do not grow with those of the packaged model",
            "see whether its service works: pegboard doctor",
        )
    found = Calibration(*scale, items=len(entries), questions=len(own), at=store.now())
    return Trial(found, questions, asked)


def answered(store: Store, trial: Trial, settings: FindSettings, scale: CosineScale) -> Shares:
    """Search for every question of a trial with this scale."""
    scaled = settings._replace(fusion=settings.fusion._replace(scale=scale))

    def share(texts: Sequence[str]) -> float:
        found = [find(store, trial.embedder, Ask(text, limit=1), scaled) for text in texts]
        return round(sum(bool(each.hits) for each in found) / max(len(found), 1), 4)

    return Shares(share(trial.questions.served), share(trial.questions.unserved))


def sample(store: Store) -> list[Entry]:
    """Return up to `MOST_ITEMS` active items from all over the board, the same ones each time."""
    last = _last_key(store)
    found: dict[int, Entry] = {}
    for after in range(0, last, max(-(-last // MOST_ITEMS), 1)):
        found |= {entry.key: entry for entry in store.items.page(after, 1)}
    return [entry for entry in found.values() if entry.active]


def _last_key(store: Store) -> int:
    """Return the highest key of an item, by bisection: it is not stored anywhere."""
    low, high = 0, 1
    while store.items.page(high, 1):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if store.items.page(middle, 1) else (low, middle)
    return high


def questions_of(entries: Sequence[Entry]) -> Questions:
    """Return one question of each of these items, by turns of different kinds, and foreign ones."""
    asked = []
    for place, entry in enumerate(entries[:: -(-len(entries) // MOST_SERVED)]):
        item = entry.item
        texts = (*item.examples[:1], first_sentence(item.description), title(item))
        if said := [text for text in dict.fromkeys(texts) if text.strip()]:
            asked.append(said[place % len(said)][:LONGEST_QUESTION])
    unserved = UNSERVED.read_text("utf-8").split("\n")
    foreign = islice(filter(None, unserved), 0, None, 2)
    return Questions(_plain(asked), _plain(list(foreign)[:MOST_UNSERVED]))


def _plain(texts: Sequence[str]) -> tuple[str, ...]:
    parsed = (parse(text) for text in dict.fromkeys(texts))
    return tuple(dict.fromkeys(each.plain for each in parsed if not each.blank))


def _with_vectors(store: Store, embedder: Embedder, entries: Sequence[Entry]) -> list[Entry]:
    if not entries:
        return []
    keys = [entry.key for entry in entries]
    any_vector = embedder.embed_query(entries[0].item.name)
    known = store.index.vector_scores(any_vector, embedder.fingerprint, keys)
    return [entry for entry in entries if entry.key in known]


def _readable_items(packaged: Embedder, entries: Sequence[Entry]) -> list[Entry]:
    """Return the items whose first passage the packaged model can read, within `MOST_PASSAGES`.

    The first passage has the name and the description. Items with fewer passages come first, so
    that one long document does not take the place of many tools.
    """
    found: list[Entry] = []
    room = MOST_PASSAGES
    for texts, entry in sorted(((_passages(each), each) for each in entries), key=_length):
        if len(texts) > room and len(found) >= LEAST_ITEMS:
            break
        if texts[0].isascii() or _query_vector(packaged, texts[0]):
            found.append(entry)
            room -= len(texts)
    return found


def _passages(entry: Entry) -> list[str]:
    return embedded_passages(embedding_text(entry.item))


def _length(sized: tuple[list[str], Entry]) -> int:
    return len(sized[0])


def _readable_questions(
    packaged: Embedder, questions: Questions
) -> tuple[Questions, dict[str, Vector]]:
    """Return the questions that the packaged model can read, and their vectors."""
    vectors = {}
    for text in dict.fromkeys(questions.served + questions.unserved):
        if vector := _query_vector(packaged, text):
            vectors[text] = vector
    served, unserved = (tuple(text for text in each if text in vectors) for each in questions)
    return Questions(served, unserved), vectors


def _query_vector(packaged: Embedder, text: str) -> Vector | None:
    """Return None for a text whose language the packaged model does not know."""
    try:
        return packaged.embed_query(text)
    except ModelUnavailable:
        raise
    except EmbeddingError:
        return None


def _require_readable(key: str, count: int, least: int, what: str) -> None:
    if count < least:
        raise UsageError(
            f"{key} cannot be calibrated: the packaged model, which it is compared with, can read "
            f"{count} {what}, at least {least} are needed",
            "search keeps raw cosines; add items in English, then: pegboard model calibrate",
        )


def _stored_cosines(
    store: Store, asked: AskedBefore, entries: Sequence[Entry]
) -> list[list[float]]:
    """Return a row of cosines for each question, from the vectors on the board."""
    keys = [entry.key for entry in entries]
    rows = (
        store.index.vector_scores(vector, asked.fingerprint, keys)
        for vector in asked.vectors.values()
    )
    return [[row.get(key, 0.0) for key in keys] for row in rows]


def _cosines(
    packaged: Embedder, questions: Mapping[str, Vector], entries: Sequence[Entry]
) -> list[list[float]]:
    """Return a row of cosines for each question, from vectors that are made for this."""
    import numpy as np  # most processes calibrate nothing

    passages = [_passages(entry) for entry in entries]
    vectors = packaged.embed([text for texts in passages for text in texts])
    starts = np.cumsum([0, *(len(texts) for texts in passages[:-1])])
    made = np.array([array("f", vector) for vector in vectors])
    asked = np.array([array("f", vector) for vector in questions.values()])
    nearest = np.maximum.reduceat(asked @ made.T, starts, axis=1)
    return [list(map(float, row)) for row in nearest]
