"""Free text in, a query out. Never raises, and never lets the text become syntax."""

from typing import NamedTuple

from pegboard.text import terms

MAX_CHARACTERS = 2_000
MAX_TERMS = 64

# Words that say nothing about what a tool does. Left out unless nothing else was said.
_EMPTY_WORDS = frozenset(
    terms(
        "a about all am an and any are as at be been but by can could did do does for from had has"
        " have he her his how i if in into is it its just may me might my no not of on or our out"
        " please s she should so some such t than that the their them then there these they this"
        " those to too up us very want was we were what when where which who why will with would"
        " you your"
    )
)


class Query(NamedTuple):
    text: str
    terms: tuple[str, ...]

    @property
    def blank(self) -> bool:
        return not self.text

    def names(self, name: str) -> bool:
        """Whether the whole query is this name: `run_query`, `runQuery` or `run query`."""
        return bool(found := _squeezed(self.text)) and found == _squeezed(name)


def _squeezed(text: str) -> str:
    return "".join(c for c in text if c.isalnum()).casefold()


def parse(raw: str) -> Query:
    text = " ".join(raw[:MAX_CHARACTERS].encode("utf-8", "replace").decode().split())
    found = list(dict.fromkeys(terms(text)))
    telling = [term for term in found if term not in _EMPTY_WORDS]
    return Query(text=text, terms=tuple((telling or found)[:MAX_TERMS]))
