"""How the action of a request fits that of an item."""

import pytest

from pegboard.search.action_fit import effect_fit, fit_action, sameness
from pegboard.verbs import EFFECTS, FAMILIES, OPPOSITES, VERBS, are_opposite


@pytest.mark.parametrize(
    ("verb", "other", "fit"),
    [
        ("create", "create", 1),
        ("erase", "delete", 0.7),
        ("pin", "unpin", -1),
        ("resume", "pause", -1),
        ("pause", "resume", -1),
        ("create", "get", 0),
        ("", "get", 0),
    ],
)
def test_verbs_are_the_same_of_one_family_or_opposite(verb, other, fit):
    assert sameness(verb, [other]) == fit


@pytest.mark.parametrize(
    ("verb", "other", "sign"),
    [
        ("show", "list", 1),
        ("count", "get", 1),
        ("show", "delete", -1),
        ("rename", "update", 1),
        ("add", "delete", -1),
        ("interact", "get", 0),
    ],
)
def test_verbs_agree_if_they_do_the_same_to_data(verb, other, sign):
    found = effect_fit(verb, other)
    assert (found > 0) - (found < 0) == sign


def test_an_http_method_in_a_name_says_nothing_beside_the_effect():
    assert fit_action("list", ("get", "list many")).least_effect == 1
    assert fit_action("create", ("post get", "list many")).effect < 0


def test_an_unknown_verb_fits_every_action_alike():
    assert fit_action("", ("get", "list many")) == fit_action("", ("get", "list many"))
    assert fit_action("", ("get", ""))[:3] == fit_action("", ("delete", ""))[:3] == (0, 0, 0)


def test_the_word_lists_contradict_themselves_nowhere():
    families = [word for text in FAMILIES.values() for word in text.split()]
    effects = [word for text in EFFECTS.values() for word in text.split()]
    assert len(set(families)) == len(families)
    assert {word for word in effects if effects.count(word) > 1} <= {"upsert"}
    for pair in OPPOSITES:
        first, second = pair.split("-")
        assert first < second and are_opposite(second, first)
    assert {"create", "get", "list", "delete", "update"} <= VERBS
