"""Ways to embed an item, compared on the small sets; the slower part of `ablation.py`.

For each way the boards are built anew, with another text or another weight of the label in this
process only. Every text is embedded once: vectors of parts are kept in memory.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from boards import sampled
from pegboard import Pegboard
from pegboard.app.measure import evaluation_board
from pegboard.app.pegboard import located
from pegboard.board.measure.evaluating import (
    CUTOFF,
    EVALUATED,
    EvalQuery,
    fill,
    find_catalogue,
    name_of,
    ndcg,
    places,
)
from pegboard.embed import parts
from pegboard.embed.local import LocalEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import Item, Vector
from pegboard.text import PART_MARK, embedding_text, prose, spoken
from report import mean

SMALL = ("mcpproxy_golden", "restbench", "toolalpaca", "metatool", "bfcl")
MODES = ("hybrid", "vector")


class Variant(NamedTuple):
    text: Callable[[Item], str] = embedding_text
    weights: tuple[float, ...] = parts.WEIGHTS


class Remembering(LocalEmbedder):
    """Embeds no text twice."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, super().embed(new), strict=True))
        return [self._known[text] for text in texts]

    def embed_query(self, text: str) -> Vector:
        return self.embed([text])[0]


def in_one_text(*fields: str) -> Callable[[Item], str]:
    def text(item: Item) -> str:
        said = {
            "name": spoken(item.name),
            "category": spoken(item.category),
            "description": prose(item.description),
        }
        told = ". ".join(said[name].strip().rstrip(".") for name in fields if said[name].strip())
        return " ".join(told.split()) or embedding_text(item).replace(PART_MARK, " ")

    return text


VARIANTS = {
    "name 0.5, title 0.5, parameters 0.2: the default": Variant(),
    "without the name": Variant(weights=(0.0, *parts.WEIGHTS[1:])),
    "name 1": Variant(weights=(1.0, *parts.WEIGHTS[1:])),
    "without the title": Variant(weights=(*parts.WEIGHTS[:2], 0.0, parts.WEIGHTS[3])),
    "title 1": Variant(weights=(*parts.WEIGHTS[:2], 1.0, parts.WEIGHTS[3])),
    "without parameters": Variant(weights=(*parts.WEIGHTS[:3], 0.0)),
    "parameters 0.5": Variant(weights=(*parts.WEIGHTS[:3], 0.5)),
    "name and description in one text": Variant(in_one_text("name", "description")),
    "name, category and description in one text": Variant(
        in_one_text("name", "category", "description")
    ),
}


def compare_texts(data: Path, sets: Sequence[str], most: int) -> dict[str, object]:
    embedder = Remembering()
    small = [name for name in SMALL if name in sets]
    rows: dict[str, object] = {}
    for name, variant in VARIANTS.items():
        with used(variant):
            found = {each: measure(data / "retrieval" / each, embedder, most) for each in small}
        rows[name] = {mode: mean([row[mode] for row in found.values()]) for mode in MODES} | {
            "sets": found
        }
        print(f"{name}: {rows[name]}", flush=True)
    return {"sets": small, "ways": rows}


@contextmanager
def used(variant: Variant) -> Iterator[None]:
    """The text is replaced wherever a module has taken it by name."""
    modules = [module for name, module in sys.modules.items() if name.startswith("pegboard.")]
    with ExitStack() as stack:
        stack.enter_context(patch.object(parts, "WEIGHTS", variant.weights))
        for module in modules:
            if hasattr(module, "embedding_text"):
                stack.enter_context(patch.object(module, "embedding_text", variant.text))
        yield


def measure(folder: Path, embedder: Remembering, most: int) -> dict[str, float]:
    queries = sampled(folder / "queries.jsonl", most)
    with evaluation_board(None, located().settings) as board:
        board.embedder = PartsEmbedder(embedder)
        fill(board.store, find_catalogue(folder), board.sync)
        return {mode: mean([gained(board, query, mode) for query in queries]) for mode in MODES}


def gained(board: Pegboard, query: EvalQuery, mode: str) -> float:
    answer = board.search(query.text, mode=mode, limit=CUTOFF, threshold=0.0, filters=EVALUATED)
    found = places(query, [name_of(hit.id) for hit in answer.hits])
    return ndcg(found, len(query.gold), CUTOFF)
