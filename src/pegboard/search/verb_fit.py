"""How the action that a question asks for fits the actions of an item."""

from collections import Counter
from collections.abc import Mapping
from math import log
from typing import NamedTuple

from pegboard.text import stems
from pegboard.verbs import word_set

UNLIKELY = 3.0
"""Bound of the association of two verbs, as a logarithm of odds."""
LEAST_SEEN = 0.5
"""Pairs of verbs as which chance counts."""
PRIOR = 5.0
"""Expected pairs as which the ratio of synonyms counts."""
MOST_VERBS = 1_000
"""Verbs of requests whose associations are kept in memory: people write any word."""
LEAST_FIT = 0.2
"""An association of verbs that never met says nothing below this size."""

_MANY_VERBS = word_set("list search")
_NUMBERS = {"many": 1, "one": -1}
METHODS = word_set("get post put patch")
"""HTTP methods by which operations are named. The effect of an operation says more."""
HINTS = {"read-only": ("get", "list", "search"), "destructive": ("delete", "remove", "update")}
"""Actions that a tool with this annotation of its MCP server can have."""


class Tables(NamedTuple):
    weights: Mapping[str, float]
    """Inverse document frequencies of common stems."""
    rare: float
    """The weight of every other stem."""
    verbs: Mapping[str, Mapping[str, int]]
    """By the verb of a request and the verb of a tool: how often they met in training."""
    synonyms: Mapping[str, str]
    """Classes of verbs that people use for one another, by verb."""


class Verbs:
    """How often a request's verb leads to a tool's verb, against chance, as a logarithm.

    Where a verb is rare, the ratio of its class of synonyms counts; for a tool with the verb of the
    request, that of all verbs: "star a repository" fits `star-repo`, however rare "star" is.
    """

    def __init__(self, known: Tables) -> None:
        self.known = known
        self._counts = known.verbs
        self._synonyms = known.synonyms
        self._asked: Counter[str] = Counter()
        self._found: Counter[str] = Counter()
        self._classes: Counter[tuple[str, str]] = Counter()
        self._asked_classes: Counter[str] = Counter()
        self._found_classes: Counter[str] = Counter()
        for verb, row in known.verbs.items():
            for other, count in row.items():
                one, two = self._class(verb), self._class(other)
                self._asked[verb] += count
                self._found[other] += count
                self._classes[one, two] += count
                self._asked_classes[one] += count
                self._found_classes[two] += count
        self._total = self._asked.total() or 1
        same = sum(row.get(verb, 0) for verb, row in known.verbs.items())
        by_chance = sum(n * self._found[verb] for verb, n in self._asked.items()) / self._total
        self._same_ratio = (same + LEAST_SEEN) / (by_chance + LEAST_SEEN)
        self._actions: dict[str, Actions] = {}

    def actions(self, verb: str) -> "Actions":
        """How the actions of items fit the verb of a request; kept for the next question."""
        found = self._actions.get(verb)
        if found is None:
            if len(self._actions) >= MOST_VERBS:
                self._actions.clear()
            found = self._actions[verb] = Actions(_Fits(self, verb))
        return found

    def _class(self, verb: str) -> str:
        """A verb without synonyms is its own class."""
        return self._synonyms.get(verb, verb)

    def odds(self, verb: str, other: str) -> float:
        """0 if chance would explain it, or if nothing is known of a verb."""
        if not verb or not other:
            return 0.0
        seen = self._counts.get(verb, {}).get(other, 0)
        expected = self._asked[verb] * self._found[other] / self._total
        ratio, prior = 1.0, LEAST_SEEN
        if verb in self._synonyms or other in self._synonyms:
            ratio, prior = self._class_ratio(self._class(verb), self._class(other)), PRIOR
        elif verb == other:
            ratio, prior = self._same_ratio, PRIOR
        value = log((seen + ratio * prior) / (expected + prior))
        if not seen and abs(value) < LEAST_FIT:
            return 0.0
        return min(max(value, -UNLIKELY), UNLIKELY)

    def _class_ratio(self, one: str, two: str) -> float:
        expected = self._asked_classes[one] * self._found_classes[two] / self._total
        return (self._classes[one, two] + LEAST_SEEN) / (expected + LEAST_SEEN)


class _Fits(dict[str, float]):
    """By verbs of tools: how the verb of a request fits. Filled while items are compared."""

    def __init__(self, verbs: Verbs, verb: str) -> None:
        self._verbs = verbs
        self._verb = verb

    def __missing__(self, other: str) -> float:
        found = self[other] = self._verbs.odds(self._verb, other)
        return found


class Action(NamedTuple):
    """How the actions of an item fit that of the question."""

    verb: float
    method: float
    least: float
    number: int
    """1 for an item about many things, -1 for one about one thing, 0 if unknown."""
    verb_stems: frozenset[str]
    """The stems of the item's verbs."""


class Actions(dict[tuple[str, str], Action]):
    """By the actions of an item (`Card.acts`). Filled while items are compared."""

    def __init__(self, fits: "_Fits") -> None:
        self.fits = fits

    def __missing__(self, acts: tuple[str, str]) -> Action:
        action, _, number = acts[1].strip().partition(" ")
        verbs = acts[0].split()
        ways = HINTS.get(action) or tuple(action.split("|"))
        method = max(self.fits[way] for way in ways)
        fits = [method if verb in ways else self.fits[verb] for verb in telling_verbs(acts)]
        fits = fits or [method]
        many = not _MANY_VERBS.isdisjoint(verbs)
        found = self[acts] = Action(
            max(fits),
            method,
            min(method, *fits),
            _NUMBERS.get(number, 0) if action and action not in HINTS else int(many),
            frozenset(stem for verb in verbs for stem in stems(verb)),
        )
        return found


def telling_verbs(acts: tuple[str, str]) -> list[str]:
    """Return the verbs of an item, without the HTTP methods that operations are named by."""
    verbs, action = acts[0].split(), acts[1].strip().partition(" ")[0]
    if not action or action in HINTS:
        return verbs
    return [verb for verb in verbs if verb not in METHODS]
