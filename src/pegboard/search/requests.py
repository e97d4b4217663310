"""Split a question that asks for several things into its requests. Pure.

"List my repositories, then open an issue in the newest, and tell the team" is three requests, and
no single tool serves all of them. A question is split only where its form announces several
requests: a list, a connecting word ("then", "also", "finally") or imperatives in a row. Background
("I am in Rome next week.") stays with the request it belongs to.
"""

import re
from typing import NamedTuple

from pegboard.verbs import VERBS, word_set

MAX_REQUESTS = 6
MIN_WORDS = 2
"""A shorter part is no request of its own."""
OPENING = 120
"""Characters in which a request shows whether it asks: four leading phrases and two words."""

_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)|\([^()\n]{2,}\)")
_MARKER = re.compile(r"(?:^|\n)[ \t]*(?:[-*•]|\(?(?:\d{1,2}|[a-z])[.):])[ \t]+")
_INLINE_MARKER = re.compile(r"(?:(?<=\s)|^)(?:\((\w)\)|(\d)[.):])\s+(?=\D)")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\b[A-Z]\.)\s+(?=\S)|\n+|;\s+|(?<=[。！？；])"
)
_CONNECTOR = re.compile(
    r"(?:,\s*(?:and\s+|but\s+)?|\band\s+|^\s*(?:and\s+)?(?:please\s+)?)"
    r"(?:then|after that|afterwards|after this|next|also|finally|lastly|last|additionally"
    r"|furthermore|moreover|in addition|second(?:ly)?|third(?:ly)?|first(?:ly)?|first of all)"
    r"\b,?\s*",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:and|but|or|so|,|please|kindly|also|then|next|finally|lastly|first|now|can you|could you"
    r"|would you|will you|i (?:also )?(?:need|want|would like) (?:you )?to|i'd like (?:you )?to"
    r"|i need|i want|help me(?: to)?|let's|let us|go ahead and|make sure to|remember to"
    r"|don't forget to|be sure to|you should|we (?:also )?need to)\b[,:]?\s*",
    re.IGNORECASE,
)
_COMMA = re.compile(r",\s*(?:and\s+)?", re.IGNORECASE)
_COMMAS = 2
"""Number of cuts from which on commas separate requests: "open it, rename it, and send it"."""
_CONDITION = re.compile(r"^(?:if|when|whenever|unless|because|since|as|while|although)\b", re.I)
_ASKS = word_set(
    """
    what which who whom whose where when why how is are was were do does did can could will would
    should has have may
    """
)
_WEAK = word_set(
    """
    use make ensure call keep include specify consider note limit sort display take give provide
    tell let remember avoid assume start return save write set add
    """
)
"""Imperatives that often refine the request before them: "use my work address"."""
_NOUNS_AFTER = word_set(
    """
    is are was were has have had will would can could should of
    """
)
"""After one of these, a word that could be an imperative is a noun."""


class _Part(NamedTuple):
    text: str
    announced: bool
    """Whether a connecting word, a list marker or an imperative in a row introduces it."""


def split_requests(text: str) -> tuple[str, ...]:
    """The requests of a question in their order; the question itself if it asks for one thing."""
    masked = _QUOTED.sub(lambda found: "\x00" * len(found[0]), text)
    parts = _listed(text, masked) or _with_background(_spoken(text, masked))
    if 2 <= len(parts) <= MAX_REQUESTS and any(part.announced for part in parts[1:]):
        return tuple(part.text for part in parts)
    return (" ".join(text.split()),)


def _listed(text: str, masked: str) -> list[_Part]:
    """The entries of a numbered or bulleted list; text before it is background."""
    for marker in (_MARKER, _INLINE_MARKER):
        found = list(marker.finditer(masked))
        if len(found) < 2 or (marker is _INLINE_MARKER and not _counts_up(found)):
            continue
        ends = [each.start() for each in found[1:]] + [len(text)]
        entries = [
            _Part(_clean(text[each.end() : end]), announced=True)
            for each, end in zip(found, ends, strict=True)
        ]
        return [each for each in entries if each.text]
    return []


def _counts_up(found: list[re.Match[str]]) -> bool:
    said = "".join(each[1] or each[2] for each in found).lower()
    return "123456789".startswith(said) or "abcdefghi".startswith(said)


def _spoken(text: str, masked: str) -> list[_Part]:
    parts: list[_Part] = []
    for start, end in _spans(masked, _SENTENCE_END):
        parts += _clauses(text[start:end], masked[start:end])
    return parts


def _spans(masked: str, boundary: re.Pattern[str]) -> list[tuple[int, int]]:
    cuts = [(0, 0), *((each.start(), each.end()) for each in boundary.finditer(masked))]
    ends = [start for start, _ in cuts[1:]] + [len(masked)]
    return [(after, end) for (_, after), end in zip(cuts, ends, strict=True) if end > after]


def _clauses(text: str, masked: str) -> list[_Part]:
    """One sentence, cut where a connecting word or a list of commas brings another imperative."""
    if _CONDITION.match(masked.strip()):
        return [_Part(_clean(text), announced=False)]
    begin = len(masked) - len(masked.lstrip(" ,"))
    cuts = [
        each
        for each in _CONNECTOR.finditer(masked)
        if each.start() <= begin or _begins_request(_opening(masked, each.end()))
    ]
    taken = {place for cut in cuts for place in range(*cut.span())}
    commas = [
        each
        for each in _COMMA.finditer(masked)
        if each.start() not in taken and _is_imperative(_opening(masked, each.end()))
    ]
    if len(commas) + len(cuts) >= _COMMAS:
        cuts = sorted((*cuts, *commas), key=lambda each: each.start())
    starts = [(0, False), *((each.end(), True) for each in cuts)]
    ends = [each.start() for each in cuts] + [len(text)]
    found = [
        _Part(_clean(text[start:end]), announced)
        for (start, announced), end in zip(starts, ends, strict=True)
    ]
    return [each for each in found if each.text]


def _clean(text: str) -> str:
    return " ".join(text.split()).strip(" ,;")


def _with_background(parts: list[_Part]) -> list[_Part]:
    """Join a part that is no request to the request behind it, or else to the one before."""
    found: list[_Part] = []
    waiting: list[str] = []
    announced = False
    for part in parts:
        announced = announced or part.announced
        if len(part.text.split()) >= MIN_WORDS and _is_request(part.text):
            in_a_row = not waiting and _continues(found, part)
            if found and not announced and not in_a_row:
                # One need in two sentences: "I want a camera. Can you recommend one?"
                text = " ".join([found[-1].text, *waiting, part.text])
                found[-1] = found[-1]._replace(text=text)
            else:
                found.append(_Part(" ".join([*waiting, part.text]), announced or in_a_row))
            waiting, announced = [], False
        else:
            waiting.append(part.text)
    if waiting and found:
        last = found[-1]
        found[-1] = last._replace(text=" ".join([last.text, *waiting]))
    return found


def _continues(found: list[_Part], part: _Part) -> bool:
    """Whether it is an imperative after another one: these announce one another.

    Only plain ones: "I want to rent a flat. Can you show me some?" is one need.
    """
    if not found:
        return False
    first, second = _first_word(_opening(found[-1].text)), _first_word(part.text)
    return first in VERBS and second in VERBS - _WEAK and _is_imperative(part.text)


def _opening(text: str, start: int = 0) -> str:
    return text[start : start + OPENING]


def _is_request(text: str) -> bool:
    return _begins_request(_opening(text)) or text.rstrip().endswith("?")


def _begins_request(text: str) -> bool:
    """Whether its first words ask.

    The question mark of a later clause may be that of the whole sentence: "Is it hot in Rome, and
    also in Milan?" is one request.
    """
    return _is_imperative(text) or _asks(text)


def _asks(text: str) -> bool:
    first = _stripped(text).split(maxsplit=1)
    return bool(first) and first[0].lower().strip(",'") in _ASKS


def _is_imperative(text: str) -> bool:
    """Whether it begins with a verb that asks for something: "open an issue", not "issue is"."""
    left = _stripped(text)
    after = left.lower().split(maxsplit=2)[1:2]
    return (
        _first_word(left) in VERBS and bool(after) and after[0].strip(",.:;!?") not in _NOUNS_AFTER
    )


def _first_word(text: str) -> str:
    word = next(iter(text.lower().split(maxsplit=1)), "").strip(",.:;!?")
    return word.replace("-", "")  # "e-mail" is the verb "email"


def _stripped(text: str) -> str:
    """Without polite and connecting words at the beginning."""
    left = text.strip(" ,\x00")
    for _ in range(4):
        lead = _LEAD.match(left)
        if lead is None:
            break
        left = left[lead.end() :].lstrip(" ,")
    return left
