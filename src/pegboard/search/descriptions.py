"""What is wrong with a description, found by rule: what a search or a reader would stumble over."""

import re
from typing import NamedTuple

from pegboard.model.items import Item, Kind
from pegboard.text import prose, sections, terms, words
from pegboard.verbs import DETERMINERS, base, is_verb, third_person, word_set

FEWEST_WORDS = 3
MOST_OF_A_REPEAT = 5
"""A sentence of more words, all of them in the name, tells how they belong together."""
FEWEST_LETTERS = 10
"""For scripts that put no spaces between words."""
MOST_WORDS = 40
"""Of a first sentence: of a longer one, lists show only the beginning."""

THING = (
    r"(?:tool|function|method|endpoint|api|operation|command|script|action|utility|helper|service"
    r"|call|plugin|module|class|wrapper|program|skill|directive)"
)
_WHO = r"(?:you|us|one|(?:an? |the |your )?(?:user|client|agent|caller|developer)s?)"
_OPENINGS = [
    rf"(?:this|the) {THING}(?: {THING})?(?: here)?(?: that| which)?",
    rf"(?:an?|the) (?:[\w-]+ ){{0,3}}?{THING} (?:that|which|for|to|used to|used for)",
    rf"{THING} (?:that|which|for|to|used to|used for)",
    rf"(?:you can )?use (?:this|it)(?: {THING})?"
    r" (?:to|for|when you (?:want|need|have) to|if you (?:want|need|have) to)",
    rf"(?:with|using) this {THING},? you can",
    rf"(?:it )?(?:allows|enables|lets|helps) (?:{_WHO}(?: to| in)?|to|in|for)",
    r"(?:it )?(?:is|are|can be|may be|should be|was) (?:used|designed|intended|meant|useful)"
    r" (?:to|for)",
    r"used (?:to|for)",
    r"(?:it )?(?:can|will|may)(?: be used to)?",
    r"in order to",
    r"(?:it|this)(?= [a-z]+s )(?! is | was | has )",
]
OPENING = re.compile(rf"(?:{'|'.join(_OPENINGS)})\s+", re.IGNORECASE)
"""What says nothing, before what is said."""

MARKETING = re.compile(
    r"\b(?:powerful|seamless(?:ly)?|effortless(?:ly)?|blazing(?:ly)?[ -]fast|lightning[ -]fast"
    r"|cutting[ -]edge|world[ -]class|best[ -]in[ -]class|state[ -]of[ -]the[ -]art"
    r"|next[ -]gen(?:eration)?|game[ -]chang(?:er|ing)|revolutionary|groundbreaking|unparalleled"
    r"|unrivalled|awesome|amazing|stunning|magical(?:ly)?|supercharge[sd]?|easy[ -]to[ -]use"
    r"|industry[ -]leading|enterprise[ -]grade|unleash|user[ -]friendly)\b,?\s*",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\balways (?:use|call|prefer|choose|pick) (?:this|it)\b"
    rf"|\byou must (?:always )?(?:use|call|prefer) this {THING} (?:for|first|before|whenever)"
    r"|\b(?:prefer|use|choose|call) (?:this|it)(?: \w+)? (?:over|instead of|rather than)"
    r" (?:any|all|every|other)"
    r"|\bnever (?:use|call) (?:any )?other\b"
    r"|\b(?:ignore|disregard|forget) (?:all |any )?(?:previous|other|earlier|prior) "
    r"(?:instruction|tool|prompt|message|rule)s?\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"(?:todo|tbd|fixme|n/?a|none|null|description|no description(?: (?:provided|available|given))?"
    r"|lorem ipsum.*|\.+|-+|\?+)[.!]*",
    re.IGNORECASE | re.DOTALL,
)
_RETURNS = re.compile(
    r"\b(?:returns?|returned|returning|gives?(?: back)?|results?|outputs?|responds?|response"
    r"|yields?|produces?|answers? with|prints?|reports?|tells?|says?|shows?|saves?|writes?"
    r"|as json)\b",
    re.IGNORECASE,
)
_ACTS = word_set(
    """
    conduct do execute handle interact invoke manage operate perform process run work
    """
)
"""Verbs that do not let one guess what comes back."""
_ENGLISH = word_set(
    """
    the of for by with from and to your about on in a an
    """
)
_NO_NOUN = word_set(
    """
    after as at before by called contains for from given if in indicates on once only represents
    since there these this to what when where while with you we your
    """
)
"""What begins with one of these may have its verb later."""
_FINITE = word_set(
    """
    is are was were be been will can cannot may must should would could has have had does do did
    shall might
    """
)
MOST_OF_A_TITLE = 8
"""A phrase of more words than this has its verb somewhere."""
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)\s+(?=\S)|(?<=[。！？])|\n\s*\n"
)


class Parts(NamedTuple):
    first: str
    """The first sentence, on one line."""
    rest: str
    """All that comes behind it, as it was written."""


def parts(description: str) -> Parts:
    text = description.strip()
    end = _SENTENCE_END.search(prose(text))
    first = text[: end.start()] if end else prose(text)
    return Parts(" ".join(first.split()), text[end.start() if end else len(prose(text)) :])


def complaints(item: Item) -> tuple[str, ...]:
    """What is wrong with an item's description, a sentence for each."""
    text = prose(item.description).strip()
    if not text or _PLACEHOLDER.fullmatch(text):
        return ("it has no description",)
    first = parts(item.description).first
    found = [
        says_little(item),
        _bad_beginning(item, first),
        _too_long(first),
        _unclear_result(item, text),
        *_loud(item.description),
    ]
    return tuple(filter(None, found))


def says_little(item: Item) -> str:
    text = prose(item.description).strip()
    if _repeats_name(item):
        return "it only repeats the name; say what it does with what, and for what"
    spaced = len(text.split()) > 1 or text.isascii()
    if spaced and len(text.split()) < FEWEST_WORDS:
        return f"it has {len(text.split())} words; say in a sentence what it does with what"
    if not spaced and len(text) < FEWEST_LETTERS:
        return f"it has {len(text)} letters; say in a sentence what it does with what"
    return ""


def _repeats_name(item: Item) -> bool:
    """But for small words, it says nothing more."""
    text = prose(item.description)
    said = {*terms(text)} - {*terms("a an the of for to this tool function")}
    return len(text.split()) <= MOST_OF_A_REPEAT and said <= {*terms(item.name)}


def _bad_beginning(item: Item, first: str) -> str:
    if opening := OPENING.match(first):
        return f"it begins with “{opening[0].strip()}”, which says nothing; begin with the verb"
    if item.kind is Kind.TOOL and lacks_verb(item, first):
        return "its first sentence has no verb at the start; begin with what it does: Send, List, …"
    return ""


def lacks_verb(item: Item, first: str) -> bool:
    """Whether it only names a thing, `User details by id`, where the name has the verb for it.

    Only of what is English, as far as one can tell.
    """
    said = [each.lower().strip(",.;:()") for each in first.split()]
    if not first.isascii() or not said or len(said) > MOST_OF_A_TITLE or said[0] in _NO_NOUN:
        return False
    after = said[1] if len(said) > 1 else ""
    unknown = said[0].endswith("s") and after in DETERMINERS  # as in `Deassigns a tag`
    acts = is_verb(said[0], after) or third_person(said[0]) or said[0].endswith("ly") or unknown
    has_verb = any(each in _FINITE or base(each) for each in said[1:])
    names_verb = is_verb(next(iter(words(item.name)), ""))
    return names_verb and not acts and not has_verb and not _ENGLISH.isdisjoint(said)


def _too_long(first: str) -> str:
    count = len(first.split())
    if count <= MOST_WORDS:
        return ""
    return f"its first sentence has {count} words; say in at most {MOST_WORDS} what it does"


def _unclear_result(item: Item, text: str) -> str:
    if item.kind is not Kind.TOOL or item.output_schema or sections(item.description):
        return ""
    begins = next(iter(words(text)), "")
    acts = begins in _ACTS or third_person(begins) in _ACTS
    if not acts or _RETURNS.search(text) or not text.isascii():
        return ""
    return "it does not say what comes back; add a sentence, or an output schema"


def _loud(text: str) -> list[str]:
    found = []
    if praise := MARKETING.search(text):
        said = praise[0].strip(" ,")
        found.append(f"“{said}” praises and does not describe; leave it out")
    if order := _ORDERS.search(text):
        found.append(f"“{order[0]}” tells its reader what to choose; say what it does")
    return found
