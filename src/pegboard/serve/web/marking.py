"""Texts in pieces, those that answer the query apart from the rest.

Templates make elements of the pieces, so whatever is in a text stays text.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pegboard.model.answers import Explanation
from pegboard.search.query import parse
from pegboard.text import PART, WORD, terms


class Piece(NamedTuple):
    text: str
    marked: bool = False


Pieces = tuple[Piece, ...]


def wanted_terms(query: str, explained: Explanation | None) -> frozenset[str]:
    """Those of the query as it was written, and as it was read."""
    read = [word for fact in explained.words for word in fact.read_as] if explained else []
    return frozenset((*parse(query).terms, *(term for word in read for term in terms(word))))


def marked(text: str, wanted: frozenset[str]) -> Pieces:
    """The text with every word marked, or part of a word, that has one of the terms."""
    pieces: list[Piece] = []
    at = 0
    for start, end in _spans(text, wanted) if wanted else ():
        if start > at or not pieces:
            pieces.append(Piece(text[at:start]))
            pieces.append(Piece(text[start:end], marked=True))
        else:
            pieces[-1] = Piece(pieces[-1].text + text[start:end], marked=True)
        at = end
    pieces.append(Piece(text[at:]))
    return tuple(piece for piece in pieces if piece.text)


def _spans(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    for word in WORD.finditer(text):
        found = terms(word[0])
        if wanted.isdisjoint(found):
            continue
        within = _parts(word[0], wanted) if word[0].isascii() else _pairs(word[0], wanted)
        for start, end in within or [(0, len(word[0]))]:
            yield word.start() + start, word.start() + end


def _parts(word: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """Of `refund_payment` only what was asked for; none if it is the word as a whole."""
    return [
        part.span() for part in PART.finditer(word) if not wanted.isdisjoint(terms(part.group()))
    ]


def _pairs(word: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """In scripts without spaces, pairs of letters stand for words; none where words do."""
    letters = sorted(
        {at for i in range(len(word) - 1) if word[i : i + 2] in wanted for at in (i, i + 1)}
    )
    spans: list[tuple[int, int]] = []
    for at in letters:
        if spans and spans[-1][1] == at:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans
