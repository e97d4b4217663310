"""The verb of a request: the action that a question asks for, and the words that say it.

"Could you take the label off?" asks to remove, "which teams has she joined?" for information,
and "the key leaked, it has to go" to remove. Verbs that only describe ("the review I started") ask
for nothing.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.text import words
from pegboard.verbs import DETERMINERS, NOUNS, VERBS, base, base_of_gerund, word_set

MAX_CLAUSES = 8
REACH = 24
"""Words of a clause among which its verb is looked for."""
PARTICLE_REACH = 8
"""Words behind a verb among which its particle is looked for."""

_CLAUSE_END = re.compile(r"(?<![,;:!()])[,;:!()]++(?=\s|$)|\n+|(?<![.?])[.?]++(?=\s|$)|\s[-–—]+\s")
"""Runs of punctuation are matched as a whole: in time linear in the length of the text."""
_LEAD = word_set(
    """
    actually again also and anyone can could d do finally first go gonna gotta ahead hello help hey
    hi i it just kindly let lets like ll love m maybe me must need next now ok okay one perhaps
    please pls plz possible quickly s should simply so somebody someone still then there to today
    try trying us ve wanna want wants we will wish would you
    """
)
"""Words before an imperative: "could you please", "I would like to"."""
_QUESTIONS = word_set("what when where which who whom whose why")
_STATES = word_set("am are did do does had has have is was were")
"""Verbs that begin a question about a state: "is it merged?"."""
_SUBJECTS = word_set("i it we you")
"""Before a verb of state, they begin a statement: "it has to go"."""
_HOW_TO = word_set("can could do does might should to would")
_MARKERS = word_set("please shall then to you")
"""Words before an imperative or an infinitive within a clause."""
_WONDERING = word_set("about check exactly find know me out remember see sure tell us wonder")
"""Words before an indirect question: "tell me which", "I want to know who"."""
_WEAK = word_set("be can have help know let like look need order please see try use want work")
"""Verbs that introduce a request instead of saying what to do."""
_AFTER_NOUN = word_set("are can has have is must needs of should that was were which will")
"""Words before which a noun stands: "pull 91 must not merge"."""
_NOUN_REACH = 3
"""Words behind what may be a noun, among which one of these decides."""
_DUTIES = word_set("can could must need needs should to")
_NEW = "new"
_ANOTHER = word_set("a an another new some two three")
_LAST = "go"
"""Behind a duty, at the end of a clause, it means to be removed: "it has to go"."""

_PARTICLES = {
    "back": {"up": "backup"},
    "bring": {"back": "restore"},
    "call": {"off": "cancel"},
    "carry": {"out": "run"},
    "get": {"rid": "remove"},
    "give": {"away": "transfer", "back": "return", "me": "get", "us": "get"},
    "hand": {"over": "transfer"},
    "kick": {"off": "start", "out": "remove"},
    "log": {"in": "login", "off": "logout", "out": "logout"},
    "look": {"up": "lookup"},
    "pick": {"out": "select"},
    "put": {"in": "add", "into": "add", "on": "add", "onto": "add", "back": "restore"},
    "set": {"up": "create"},
    "shut": {"down": "stop", "off": "disable"},
    "sign": {"in": "login", "out": "logout", "up": "register"},
    "switch": {"off": "disable", "on": "enable"},
    "take": dict.fromkeys(("away", "back", "down", "off", "out"), "remove"),
    "tell": {"me": "get", "us": "get"},
    "throw": {"away": "remove", "out": "remove"},
    "turn": {"off": "disable", "on": "enable"},
}
"""Verbs that a particle gives another meaning, by the one verb that tools are named by."""
_ADJACENT = word_set("me us")
"""Particles that stand right behind their verb."""
_LOOKING = {("look", "for"): "find", ("looking", "for"): "find", ("looking", "up"): "lookup"}
_ALSO_PREPOSITIONS = {"turn": ("on",), "switch": ("on",), "log": ("in",), "sign": ("in",)}
"""Particles that, apart from the verb, belong to it at the end of a clause only."""


class RequestVerb(NamedTuple):
    verb: str = ""
    """In its base form; empty if the request does not say what to do."""
    used: tuple[str, ...] = ()
    """The words that say it."""
    behind: tuple[str, ...] = ()
    """The words behind it in its clause."""


def requested_verb(text: str) -> RequestVerb:
    """Return the verb of a request: `list` for "could you list my boards"."""
    clauses = [said for clause in _clauses(text) if (said := words(clause))]
    asks = text.rstrip().endswith("?")
    for said in clauses:
        found = _verb_of(said[:REACH], asks=asks and said is clauses[-1])
        if found.verb:
            return found
    if not clauses:
        return RequestVerb()
    if _NEW in clauses[0]:
        place = clauses[0].index(_NEW)
        return RequestVerb("create", (_NEW,), tuple(clauses[0][place + 1 :]))
    return RequestVerb("get" if asks else "", (), tuple(clauses[0]))


def _clauses(text: str) -> list[str]:
    return _CLAUSE_END.split(text, MAX_CLAUSES)[:MAX_CLAUSES]


def _verb_of(said: Sequence[str], *, asks: bool) -> RequestVerb:
    """`asks`: whether a question mark ends it. "Open pull requests?" asks for information."""
    begin = next((place for place, word in enumerate(said) if word not in _LEAD), len(said))
    if begin == len(said):
        return RequestVerb()
    first = said[begin]
    if first == "how" and said[begin + 1 : begin + 2] and said[begin + 1] in _HOW_TO:
        return _verb_of(said[begin + 2 :], asks=False)
    if first in _QUESTIONS or first == "how" or (asks and not begin):
        return RequestVerb("get", (), tuple(said[begin:]))
    if (found := _imperative(said, begin)).verb:
        return found
    if first in _STATES and not (begin and said[begin - 1] in _SUBJECTS):
        return RequestVerb("get", (), tuple(said[begin + 1 :]))
    return next(_within(said, begin + 1), RequestVerb())


def _imperative(said: Sequence[str], place: int) -> RequestVerb:
    """Return the verb that a clause begins with, in its base form or another."""
    word, behind = said[place], tuple(said[place + 1 :])
    found = _phrase(word, behind[:PARTICLE_REACH])
    if found.verb:
        return found._replace(behind=behind)
    if word in NOUNS and _is_noun(behind):
        return RequestVerb()
    verb = word if word in VERBS else base(word, *behind[:1]) or base_of_gerund(word)
    if not verb or verb in _WEAK:
        return RequestVerb()
    if verb == "make" and not (behind and behind[0] in _ANOTHER):
        verb = "update"  # "make it private"; "make a list" creates one
    return RequestVerb(verb, (word,), behind)


def _is_noun(behind: Sequence[str]) -> bool:
    """Whether a word that is both a verb and a noun is a noun before these words."""
    if not behind or behind[0] in DETERMINERS:
        return False
    return not _AFTER_NOUN.isdisjoint(behind[:_NOUN_REACH])


def _within(said: Sequence[str], begin: int) -> Iterator[RequestVerb]:
    """Yield what a clause asks for behind its beginning: "Tom needs to be removed"."""
    for place in range(begin, len(said)):
        before, word = said[place - 1], said[place]
        behind = tuple(said[place + 1 :])
        if word in _QUESTIONS and before in _WONDERING:
            yield RequestVerb("get", (), behind)
        elif word == _LAST and before in _DUTIES and not behind:
            yield RequestVerb("remove", (word,), tuple(said[:place]))
        elif before in _MARKERS and word in VERBS:
            is_verb = word not in NOUNS or (behind and behind[0] in DETERMINERS)
            if is_verb and (found := _imperative(said, place)).verb:
                yield found
        elif before in ("need", "needs") and (verb := base_of_gerund(word)):
            yield RequestVerb(verb, (word,), tuple(said[: place - 1]))
        elif before == "be" and said[max(place - 2, 0)] in _DUTIES and (verb := _passive(word)):
            yield RequestVerb(verb, (word,), tuple(said[: place - 2]))


def _passive(word: str) -> str:
    """Return `remove` for `removed`; empty if the word is no participle of a known verb."""
    if not word.endswith("d"):
        return ""
    forms = (word[:-1], word[:-2], f"{word[:-3]}y", word[:-3])
    return next((each for each in forms if each in VERBS), "")


def _phrase(word: str, behind: Sequence[str]) -> RequestVerb:
    """Return the meaning of a verb with its particle: `remove` for "take the label off"."""
    if behind and (found := _LOOKING.get((word, behind[0]))):
        return RequestVerb(found, (word, behind[0]))
    particles = _PARTICLES.get(word, {})
    for place, each in enumerate(behind):
        is_apart = place and (each in _ALSO_PREPOSITIONS.get(word, ()) or each in _ADJACENT)
        at_end = place + 1 == len(behind) and each not in _ADJACENT
        if each in particles and (not is_apart or at_end):
            return RequestVerb(particles[each], (word, each))
    return RequestVerb()
