"""An answer as text for a model: as many hits, and as much of each, as its tokens allow."""

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from pegboard.model.answers import Answer, Hit, as_score
from pegboard.model.items import Kind, qualified
from pegboard.text import clipped, first_sentence, prose

LONGEST_SENTENCE = 240
LONGEST_SIGNATURE = 400
LETTERS_PER_TOKEN = 3.5
"""Of English and code; on compact hits this comes to as much as WordPiece makes of them."""
BYTES_PER_TOKEN = 2
"""Beyond ASCII, in UTF-8: é is one token, 金 one and a half, an emoji two."""


class Detail(IntEnum):
    """How much of a hit is told."""

    NAME = 0
    COMPACT = 1
    WHOLE = 2


class Told(NamedTuple):
    hit: Hit
    detail: Detail
    text: str


def tokens(text: str) -> int:
    """About how many tokens a model will see; rather too many than too few."""
    if text.isascii():
        return math.ceil(len(text) / LETTERS_PER_TOKEN)
    letters = sum(c < "\x80" for c in text)
    beyond = len(text.encode("utf-8", "surrogatepass")) - letters
    return math.ceil(letters / LETTERS_PER_TOKEN + beyond / BYTES_PER_TOKEN)


def title_of(hit: Hit) -> str:
    """Return the title on one line; empty if the description begins with it."""
    title, said = (" ".join(text.split()) for text in (hit.title, hit.description))
    return "" if said.casefold().startswith(title.rstrip(".").casefold()) else title


def tell(hit: Hit, detail: Detail) -> str:
    """A hit for a model to act on: where it hangs, how it is called, and what it does.

    Only its first line begins at the margin and none is blank, so that no description can be taken
    for a hit of its own.
    """
    name = qualified(hit.namespace, hit.id)
    if detail is Detail.NAME:
        return name
    if detail is Detail.COMPACT:
        text = [clipped(first_sentence(hit.description), LONGEST_SENTENCE)]
    else:
        text = [line.rstrip() for line in prose(hit.description).strip().splitlines()]
    called = clipped(" ".join(hit.signature.split()), LONGEST_SIGNATURE)
    kind = "" if hit.kind is Kind.TOOL else f" {hit.kind}"
    tier = f" {hit.tier}" if hit.tier else ""
    title = clipped(title_of(hit), LONGEST_SENTENCE)
    lines = [f"{name} ({as_score(hit.score)}){kind}{tier}", called, title, *text]
    if hit.passage:
        found_in = clipped(" ".join(hit.passage.split()), LONGEST_SENTENCE)
        lines.append(f"found in: {found_in}")
    if hit.like_it:
        lines.append(f"and {len(hit.like_it)} like it")
    lines += [f"note: {note}" for note in hit.notes]
    return "\n  ".join(line for line in lines if line)


def together(told: Sequence[Told]) -> str:
    """What the model gets to read."""
    return "\n".join(each.text for each in told)


def grouped(answer: Answer, told: Sequence[Told]) -> str:
    """Return the text for a model if the question has several requests: its hits by request.

    An item that serves two requests is described in full at the first of them.
    """
    texts = {tell(each.hit, Detail.NAME): each.text for each in told}
    return "\n".join(_by_request(answer, texts))


def _by_request(answer: Answer, texts: Mapping[str, str]) -> Iterator[str]:
    told: set[str] = set()
    for number, request in enumerate(answer.requests, start=1):
        yield f"{number}. {heading(request.text)}"
        own = request.answer
        names = [name for hit in own.hits if (name := tell(hit, Detail.NAME)) in texts]
        yield from (name if name in told else texts[name] for name in names)
        told.update(names)
        if not own.hits:
            yield "  No tool fits."
        elif not names:
            yield "  Its hits exceed the token budget."


def heading(text: str) -> str:
    """A request on one line."""
    return clipped(" ".join(text.split()), LONGEST_SENTENCE)


def compact(hits: Sequence[Hit]) -> list[Told]:
    return [Told(hit, Detail.COMPACT, tell(hit, Detail.COMPACT)) for hit in hits]


def fit(hits: Sequence[Hit], budget: int) -> list[Told]:
    """The first hits in compact form while there is room; what is left over tells the first more.

    If not even one fits, its name alone does, so that a small budget never hides the best hit.
    """
    told: list[Told] = []
    left = budget
    for each in compact(hits):
        if (cost := tokens(each.text) + 1) > left:
            break
        told.append(each)
        left -= cost
    if not told and hits:
        return [Told(hits[0], Detail.NAME, tell(hits[0], Detail.NAME))]
    for place, (hit, _, text) in enumerate(told):
        whole = tell(hit, Detail.WHOLE)
        more = tokens(whole) - tokens(text)
        if more <= left:
            told[place] = Told(hit, Detail.WHOLE, whole)
            left -= more
    return told
