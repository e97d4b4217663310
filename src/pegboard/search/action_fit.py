"""How the action that a question asks for fits the actions of an item.

Verbs are compared by family ("erase" and "delete"), as opposites ("pin" and "unpin"), and by what
they do to data: read, create, update, delete, or another change of state.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from pegboard.text import stems
from pegboard.verbs import are_opposite, effect_of, family_of, word_set

SAME_FAMILY = 0.7
"""How much the same verb another verb of its family is."""
MANY_VERBS = word_set("list search")
HTTP_METHODS = word_set("get post put patch")
"""Methods by which operations are named. The effect of an operation says more."""
HINTS = {"read-only": ("get", "list", "search"), "destructive": ("delete", "remove", "update")}
"""Actions that a tool with this annotation of its MCP server can have."""
_NUMBERS = {"many": 1, "one": -1}
_MATCHES = {
    frozenset(("read", "create")): -1.0,
    frozenset(("read", "update")): -1.0,
    frozenset(("read", "delete")): -1.0,
    frozenset(("read", "act")): -0.7,
    frozenset(("read", "compute")): 0.3,
    frozenset(("compute", "create")): -0.5,
    frozenset(("compute", "update")): -0.5,
    frozenset(("compute", "delete")): -1.0,
    frozenset(("compute", "act")): -0.5,
    frozenset(("create", "delete")): -1.0,
    frozenset(("update", "delete")): -0.8,
    frozenset(("create", "update")): -0.4,
    frozenset(("act", "create")): -0.1,
    frozenset(("act", "update")): -0.1,
    frozenset(("act", "delete")): -0.3,
}
"""How two different effects fit. Equal ones fit with 1."""


class ActionFit(NamedTuple):
    """How the actions of an item fit that of a question."""

    same: float
    """1 if the item has the very verb of the request, -1 if it has only its opposite."""
    effect: float
    least_effect: float
    """The best and the worst fit of what the item's verbs and its method do to data, in -1..1."""
    number: int
    """1 for an item about many things, -1 for one about one thing, 0 if unknown."""
    verb_stems: frozenset[str]
    """The stems of the item's verbs."""

    @property
    def fits(self) -> bool:
        """Whether the item does what the question asks for."""
        return self.same > 0 or (self.same == 0 and self.effect > 0)


@lru_cache(maxsize=20_000)
def fit_action(verb: str, acts: tuple[str, str]) -> ActionFit:
    """Return how an item's actions (`Card.acts`) fit a verb; an empty verb fits all alike."""
    verbs = acts[0].split()
    effect, _, number = acts[1].strip().partition(" ")
    own = item_actions(acts)
    best, worst = _effects(verb, own)
    many = int(not MANY_VERBS.isdisjoint(verbs))
    return ActionFit(
        sameness(verb, own),
        best,
        worst,
        many if not effect or effect in HINTS else _NUMBERS.get(number, 0),
        frozenset(stem for each in verbs for stem in stems(each)),
    )


def item_actions(acts: tuple[str, str]) -> tuple[str, ...]:
    """Return the verbs of an item and the actions of its method or its annotations."""
    verbs, effect = acts[0].split(), acts[1].strip().partition(" ")[0]
    if effect in HINTS:
        return (*verbs, *HINTS[effect])
    if not effect:
        return tuple(verbs)
    return (*(verb for verb in verbs if verb not in HTTP_METHODS), *effect.split("|"))


def sameness(verb: str, others: Iterable[str]) -> float:
    """Return 1 for the same verb, less for one of its family, -1 if there is only an opposite."""
    known = [each for each in others if each]
    if not verb or verb in known:
        return float(bool(verb))
    if any(family_of(verb) == family_of(each) for each in known):
        return SAME_FAMILY
    return -1.0 if any(are_opposite(verb, each) for each in known) else 0.0


@lru_cache(maxsize=20_000)
def effect_fit(verb: str, other: str) -> float:
    """Return how well two verbs agree in what they do to data, in -1..1; 0 if unknown."""
    asked, own = effect_of(verb), effect_of(other)
    if not asked or not own:
        return 0.0
    return 1.0 if asked == own else _MATCHES[frozenset((asked, own))]


def _effects(verb: str, others: Iterable[str]) -> tuple[float, float]:
    """Return the best and the worst fit among the verbs whose effect is known."""
    fits = [fit for each in others if (fit := effect_fit(verb, each))]
    return (max(fits), min(fits)) if fits else (0.0, 0.0)
