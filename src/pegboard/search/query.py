"""Free text in, a query out. Never raises, and never lets the text become syntax."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pegboard.model.items import WordQuery
from pegboard.text import name_key, terms, words

MAX_CHARACTERS = 2_000
MAX_TERMS = 64
MAX_POSTINGS = 10_000
"""How many entries of the text index one query may go through: what keeps a large board quick."""
LEAD_POSTINGS = 500
"""How many of them may be scored to find candidates."""

# Words that say nothing about what a tool does. Left out unless nothing else was said.
EMPTY_STEMS = frozenset(
    terms(
        "a about all am an and any are as at be been but by can could did do does for from had has"
        " have he her his how i if in into is it its just may me might my no not of on or our out"
        " please s she should so some such t than that the their them then there these they this"
        " those to too up us very want was we were what when where which who why will with would"
        " you your"
    )
)


_EXTENSIONS = (
    "avi|bak|bmp|conf|csv|docx?|epub|gif|gz|html?|ini|jpe?g|json|log|md|mov|mp[34]|odt|pdf|png|pptx?"
    "|py|sh|sql|svg|tar|tiff?|toml|tsv|txt|wav|webp|xlsx?|xml|ya?ml|zip"
)
# A query may be hostile, so these patterns take linear time: a scan starts only at the beginning of
# a run of characters (lookbehind), does not backtrack (possessive quantifier) or is bounded.
_FILE = re.compile(
    r"(?<![\w.-])(?<![\w.-][\\/])(?:[A-Z]:[\\/]|~?/)?(?:[\w.-]++[\\/])*[\w-][\w.-]*"
    rf"\.({_EXTENSIONS})\b(?![\w/{{])",
    re.ASCII | re.IGNORECASE,
)
"""A file by its name or path. Its extension says something about the request."""
_URL = re.compile(
    r"""\b[a-z][a-z0-9+.-]{0,30}+://[^\s"'<>“”«»]+|\bwww\.[^\s"'<>“”«»]+"""
    r"""|(?<![\w.-])[\w-]++(?:\.[\w-]++)++/[^\s"'<>“”«»]+"""
    r"|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.\w++)++(?::[\w./-]+)?",
    re.ASCII | re.IGNORECASE,
)
"""Web and e-mail addresses. The longest registered scheme has 30 characters."""
_PATH = re.compile(
    r"(?<!\bGET )(?<!\bPUT )(?<!\bPOST )(?<!\bPATCH )(?<!\bDELETE )"
    r"(?<![\w/}])(?:~|\.{1,2})?/[\w.-]++(?:/[\w.-]*+)++(\{?)|\b[A-Za-z]:[\\/]\S+",
    re.ASCII,
)
"""Paths. Behind an HTTP method or with variables (group 1), it is the path of an API.

The brace is matched, not refused by a lookahead: the search would try every part of the path again.
"""
_ID = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|\b(?=\d*[a-f])[0-9a-f]{12,}\b|\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,}\b"
    r"|\b(?=\w*[A-Za-z])(?:(?=\w*\d{5})|(?=\w*\d[A-Za-z_]+\d))\w{9,}\b"
    r"|\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?!\w*[a-z]{5})[A-Za-z0-9]{9,}\b",
    re.ASCII,
)
"""Opaque ids. A digit among words, as in `base64_encode`, makes none."""
_QUOTED = re.compile(
    r"""(?<!\w)"(?:\\.|[^"\\\n]){1,300}"(?!\w)|“[^“”\n]{1,300}”|„[^„“”\n]{1,300}[“”]"""
    r"""|«[^«»\n]{1,300}»|‹[^‹›\n]{1,300}›|「[^「」\n]{1,300}」|『[^『』\n]{1,300}』"""
    r"""|(?<!\w)'[^'\n]{1,300}'(?!\w)|(?<!\w)‘[^‘’\n]{1,300}’(?!\w)|`[^`\n]{1,300}`"""
    r"""|\{[^{}\n]{0,300}["'][^{}\n]{0,300}\}"""
)
"""Quoted text and JSON objects. Unlike addresses they are sometimes the subject of a request."""
LEAST_SUBJECT, LEAST_LEFT = 2, 3
"""Telling terms that must remain for addresses, and for quoted text, to be left out."""
_NEGATION = re.compile(r"\b\w+n['’]t\b")
"""`don't` would leave the word `don` behind."""


class Query(NamedTuple):
    text: str
    terms: tuple[str, ...]
    plain: str = ""
    """The text without literals; the whole text if little else was said."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the terms come from, as they were spelled."""
        kept = set(self.terms)
        spelled = (word for word in words(self.text) if not kept.isdisjoint(terms(word)))
        return tuple(dict.fromkeys(spelled))

    def without(self, spans: Iterable[tuple[int, int]]) -> "Query":
        """Leave out parts of `plain`; the query itself if no telling term would remain."""
        kept = self.plain
        for start, end in sorted(spans, reverse=True):
            kept = f"{kept[:start]} {kept[end:]}"
        kept = " ".join(kept.split()).strip(" ,:;")
        telling = tuple(term for term in dict.fromkeys(terms(kept)) if term not in EMPTY_STEMS)
        return self._replace(terms=telling[:MAX_TERMS], plain=kept) if telling else self

    @property
    def blank(self) -> bool:
        return not self.text

    @property
    def name_key(self) -> str:
        """What an item's name must be for the whole query to be that name."""
        return name_key(self.text)


def parse(raw: str) -> Query:
    text = " ".join(raw[:MAX_CHARACTERS].encode("utf-8", "replace").decode().split())
    plain = _left_of(text, _without_addresses(text), LEAST_SUBJECT)
    plain = _left_of(plain, _QUOTED.sub(" ", plain), LEAST_LEFT)
    return Query(text=text, terms=_telling(plain)[:MAX_TERMS], plain=plain)


def _without_addresses(text: str) -> str:
    """Leave out addresses, paths and ids, but not the extensions of files."""
    less = _FILE.sub(r" \1 ", _URL.sub(" ", text))
    return _ID.sub(" ", _PATH.sub(lambda found: found[0] if found[1] else " ", less))


def _left_of(text: str, less: str, least: int) -> str:
    """The text without its literals if enough of it is left."""
    less = " ".join(less.split())
    return less if less == text or len(_telling(less)) >= least else text


def _telling(text: str) -> tuple[str, ...]:
    found = list(dict.fromkeys(terms(_NEGATION.sub(" ", text))))
    return tuple(term for term in found if term not in EMPTY_STEMS) or tuple(found)


def choose(
    query_terms: Sequence[str], frequencies: Mapping[str, int], *, alone: bool = False
) -> WordQuery:
    """The known terms, and among them the rarest that items are looked for by.

    Where words are `alone`, nothing else can find what a narrow first look has missed.

    On a small board all terms are rare, and all lead. On a large one the commonest words would cost
    the most time and tell the least: they only help to order what the others have found, or are
    left out altogether.
    """
    known = [term for term in query_terms if term in frequencies]
    rarest = sorted(known, key=lambda term: frequencies[term])
    counted = _within(rarest, frequencies, MAX_POSTINGS)
    lead = _within(rarest, frequencies, MAX_POSTINGS if alone else LEAD_POSTINGS)
    every = len(known) > 1 and frequencies[rarest[0]] > MAX_POSTINGS // 3
    if every:
        lead = set(rarest[:3])
    return WordQuery(
        terms=tuple(term for term in known if term in counted | lead),
        lead=tuple(term for term in known if term in lead),
        every=every,
    )


def _within(rarest: Sequence[str], frequencies: Mapping[str, int], most: int) -> set[str]:
    """The first terms that lead to so many items together, and at least one."""
    taken: set[str] = set()
    postings = 0
    for term in rarest:
        postings += frequencies[term]
        if taken and postings > most:
            break
        taken.add(term)
    return taken


def known_share(query_terms: Sequence[str], frequencies: Mapping[str, int]) -> float:
    """How much of what was said the board has words for."""
    return len(frequencies.keys() & set(query_terms)) / len(query_terms) if query_terms else 0.0
