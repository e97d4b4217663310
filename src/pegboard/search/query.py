"""Free text in, a query out. Never raises, and never lets the text become syntax."""

from typing import NamedTuple

from pegboard.text import terms

MAX_CHARACTERS = 2_000
MAX_TERMS = 64

# Words that say nothing about what a tool does. Left out unless nothing else was said.
_EMPTY_WORDS = frozenset(
    terms(
        "a an and are as at be been by can could do does did for from had has have how i if in into"
        " is it its me my of on or our please s so t that the their them then there these this"
        " those to us want was we were what when where which who will with would you your"
    )
)


class Query(NamedTuple):
    text: str
    terms: tuple[str, ...]

    @property
    def blank(self) -> bool:
        return not self.text


def parse(raw: str) -> Query:
    text = " ".join(raw[:MAX_CHARACTERS].encode("utf-8", "replace").decode().split())
    found = list(dict.fromkeys(terms(text)))
    telling = [term for term in found if term not in _EMPTY_WORDS]
    return Query(text=text, terms=tuple((telling or found)[:MAX_TERMS]))
