"""Services that a question names: "create an issue in Jira" is meant for the source `jira`.

A mention is certain if the word is a proper name ("create a jira ticket") or if the sentence uses
it as one: with a capital letter ("my Box files"), before a colon, or after a preposition. After a
preposition, a common word is certain only as the caller's own or before a noun such as "account"
("in my box account"): "load it into memory" and "put it in the box" name no service. A certain
mention restricts the search to that source, and the name is left out of the text, which all of the
source's items would match alike. Any other mention ("fit a linear regression") stays a word of the
question.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from pegboard.model.items import Filters, SourceCounts
from pegboard.search.query import Query
from pegboard.search.ranker import stem_weights
from pegboard.text import fold, stems
from pegboard.verbs import word_set

NAMES_FILE = Path(__file__).with_name("proper_names.txt")
"""Names among the common words of tool texts, such as "jira" (`training/proper_names.py`)."""
LONGEST_NAME = 4
"""Words of a question that are compared with one name: "google cloud storage api"."""
SHORTEST_NAME = 2
TITLE_CASE = 0.5
"""With a larger share of capitalised words, a capital letter does not mark a name."""

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
"""Words; names in a script with spaces are told apart from text in one without: "在GitHub上"."""
_GENERIC = word_set(
    """
    mcp server servers api apis rest openapi swagger com io net org www http https json yaml yml db
    v1 v2 v3 v4 tool tools toolkit script scripts skill skills service services client sdk plugin
    official demo docs doc documents files folder project src main default local catalogue catalog
    test tests example examples data my the app cloud public private published created general other
    misc common core utils utility all new
    """
)
"""Words of labels that name no service."""
_CALENDAR = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december
    """
)
_PREPOSITIONS = word_set(
    """
    in on to from via using with through into onto at for inside within of by
    auf bei mit von aus zu im en de del con para desde por dans sur avec depuis su da nel em no
    в на из для
    """
)
"""Left out together with the name behind them."""
_WEAK = word_set("with for at by mit bei con para com avec")
"""Prepositions that mark no name: "sort files by time"."""
_OPENING = word_set(
    "in on at using with via within inside through auf bei mit en dans sur con avec su na no в на"
)
"""Prepositions that say where to work, unlike "from" and "to"."""
_POSSESSIVES = word_set("my our your meine unser mi mis nuestro mon notre")
_INDEFINITE = word_set("a an")
_DETERMINERS = _POSSESSIVES | _INDEFINITE | word_set("the this that")
_AFTER = word_set(
    """
    and or then but so that which where when while if because as for with by at in on to of from
    into via using about before after under without please now today instead called named whose
    """
)
"""Words that a noun phrase ends before."""
_PLACES = word_set("account workspace instance site server tenant api")
"""Nouns that add nothing to the name of a service: "in my Box account"."""


class Scope(NamedTuple):
    """What a question asks, and where."""

    query: Query
    """Without the name of its service."""
    filters: Filters
    """The caller's filters, narrowed to the named sources."""
    services: tuple[str, ...] = ()
    """The sources that the question names."""
    opening: tuple[str, ...] = ()
    """Those it begins with, as in "In GitHub, ...": they hold for the requests after it, too."""


class _Token(NamedTuple):
    start: int
    end: int
    word: str


class _Mention(NamedTuple):
    key: str
    start: int
    end: int
    opens: bool
    """Whether the question begins with it: "In GitHub, ...", "GitHub: ..."."""


class _Names(NamedTuple):
    """The names of a board's services."""

    by_key: Mapping[str, "_Known"]
    starts: frozenset[str]
    """What keys begin with: a word that is not among it begins no name."""


class _Sense(Enum):
    """What a word is beside the name of a source."""

    NAME = "a proper name"
    RARE = "no common word, or several words"
    COMMON = "a common word"


class _Known(NamedTuple):
    """The sources that have one key."""

    sources: list[str]
    sense: _Sense


def scope(
    query: Query, counts: SourceCounts, filters: Filters, inherited: tuple[str, ...] = ()
) -> Scope:
    """Restrict a query to the sources that it names, as far as the filters leave them.

    `inherited`: the sources that hold if it names none.
    """
    names = _names(counts)
    mentions = list(_mentions(query.plain, names))
    if not mentions:
        within = _left(inherited, counts, filters)
        return Scope(query, filters._replace(sources=within or filters.sources), within)
    # What is left out must not depend on the filters, so that they change no order. With two
    # services, each is an object of the request: "copy it from Box to Drive".
    one = len({each.key for each in mentions}) == 1
    asked = query.without((each.start, each.end) for each in mentions) if one else query
    services = _sources_of(mentions, names, counts, filters)
    opening = _sources_of([each for each in mentions if each.opens], names, counts, filters)
    return Scope(asked, filters._replace(sources=services or filters.sources), services, opening)


@lru_cache(maxsize=64)
def _names(counts: SourceCounts) -> _Names:
    """Sources by their words without spaces and generic ones: `github` for `github-mcp`."""
    found: dict[str, _Known] = {}
    for source in sorted(counts.items):
        words = [each.word for each in _tokens(source) if each.word not in _GENERIC]
        key = "".join(words)
        if len(key) >= SHORTEST_NAME and not key.isdigit() and key not in _CALENDAR:
            own = found.setdefault(key, _Known([], _sense(words)))
            own.sources.append(source)
    starts = frozenset(key[:length] for key in found for length in range(1, len(key) + 1))
    return _Names(found, starts)


def _sources_of(
    mentions: Sequence[_Mention], names: _Names, counts: SourceCounts, filters: Filters
) -> tuple[str, ...]:
    """Return the mentioned sources that the caller's filters leave, sorted."""
    said = {source for each in mentions for source in names.by_key[each.key].sources}
    return _left(sorted(said), counts, filters)


def _left(sources: Sequence[str], counts: SourceCounts, filters: Filters) -> tuple[str, ...]:
    """Return the sources that the caller's filters leave."""
    return tuple(
        each
        for each in sources
        if (not filters.sources or each in filters.sources) and counts.of(each, filters.namespaces)
    )


def _mentions(text: str, names: _Names) -> Iterator[_Mention]:
    """The certain mentions of known names, the longest at each place."""
    known = names.by_key
    tokens = _tokens(text) if known else []
    place = 0
    while place < len(tokens):
        if tokens[place].word not in names.starts:
            place += 1
            continue
        for length in range(min(LONGEST_NAME, len(tokens) - place), 0, -1):
            key = "".join(each.word for each in tokens[place : place + length])
            if key not in known:
                continue
            if found := _certain(text, tokens, place, place + length, known[key].sense):
                start, end, opens = found
                yield _Mention(key, start, end, opens)
                place += length - 1
                break
        place += 1


def _certain(
    text: str, tokens: list[_Token], first: int, after: int, sense: _Sense
) -> tuple[int, int, bool] | None:
    """Return the part of the text that names the service; None if in doubt.

    The part includes its preposition. The third value is whether the text opens with it.
    """
    start, end = tokens[first].start, tokens[after - 1].end
    if text[end : end + 2] in ("'s", "’s"):
        end, after = end + 2, after + 1
    in_place = after < len(tokens) and tokens[after].word in _PLACES
    if in_place:
        end, after = tokens[after].end, after + 1
    lead = first
    while lead and tokens[lead - 1].word in _DETERMINERS:
        lead -= 1
    before = tokens[lead - 1].word if lead else ""
    introduced = before in _PREPOSITIONS and (lead == 1 or _ends(text, tokens, after))
    titled = first == 0 and text[end:].lstrip().startswith(":")
    determiners = {each.word for each in tokens[lead:first]}
    if not (
        titled
        or sense is _Sense.NAME
        or _is_capitalised(text, tokens, first, after)
        or (introduced and _marks_name(before, determiners, sense, in_place=in_place))
    ):
        return None
    opens = titled or (introduced and lead == 1 and before in _OPENING)
    return (tokens[lead - 1].start if introduced else start), end, opens


def _marks_name(preposition: str, determiners: set[str], sense: _Sense, *, in_place: bool) -> bool:
    """Whether a word in lower case is a name after a preposition and determiners."""
    if preposition in _WEAK:
        return False
    if in_place:
        return True
    if determiners & _INDEFINITE:
        return False
    return sense is _Sense.RARE or bool(determiners & _POSSESSIVES)


def _ends(text: str, tokens: list[_Token], after: int) -> bool:
    """Whether the noun phrase ends before this token: "in box", but not "in box offices"."""
    if after == len(tokens) or tokens[after].word in _AFTER:
        return True
    between = text[tokens[after - 1].end : tokens[after].start]
    return not between.isspace() and bool(between) and between[0] not in "-_/'’"


def _is_capitalised(text: str, tokens: list[_Token], first: int, after: int) -> bool:
    """Whether a capital letter in the middle of a sentence marks it as a name."""
    if first == 0 or text[: tokens[first].start].rstrip()[-1] in ".!?:\n\"'“(":
        return False
    capitals = sum(text[each.start].isupper() for each in tokens)
    said = text[tokens[first].start : tokens[after - 1].end]
    return any(map(str.isupper, said)) and capitals <= TITLE_CASE * len(tokens)


@cache
def _proper_names() -> frozenset[str]:
    return frozenset(NAMES_FILE.read_text("utf-8").split())


def _sense(words: Sequence[str]) -> _Sense:
    """Return the sense of a source's words; several are a name more often than a phrase."""
    if not _proper_names().isdisjoint(words):
        return _Sense.NAME
    common = stem_weights().weights
    is_common = all(stem in common for word in words for stem in stems(word))
    return _Sense.COMMON if is_common and len(words) == 1 else _Sense.RARE


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(each.start(), each.end(), fold(each[0]).casefold()) for each in _WORD.finditer(text)
    ]
