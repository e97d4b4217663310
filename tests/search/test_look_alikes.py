import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import make_item
from pegboard.search.look_alikes import ALIKE, groups
from pegboard.text import prose, terms

relaxed = settings(max_examples=200, deadline=None)
LETTER = "Send a letter to the office by post."
words = st.sampled_from(["send", "letter", "post", "office", "stamp"])
sayings = st.lists(words, max_size=5).map(" ".join)
shelves = st.lists(st.tuples(words, sayings), max_size=10).map(
    lambda made: [make_item(name, description=said) for name, said in made]
)


def likeness(one, other):
    a, b = (set(terms(f"{item.name} {prose(item.description)}")) for item in (one, other))
    return len(a & b) / len(a | b)


@relaxed
@given(items=shelves)
def test_every_item_is_in_one_group_and_the_order_is_kept(items):
    found = groups(items)
    assert sorted(itertools.chain(*found)) == list(range(len(items)))
    assert all(group == sorted(group) for group in found)
    assert [group[0] for group in found] == sorted(group[0] for group in found)


@relaxed
@given(items=shelves)
def test_members_are_like_their_leader_and_leaders_unlike_one_another(items):
    found = groups(items)
    for leader, *others in found:
        assert all(likeness(items[leader], items[each]) >= ALIKE for each in others)
    for one, other in itertools.combinations([group[0] for group in found], 2):
        assert likeness(items[one], items[other]) < ALIKE


def test_copies_in_other_categories_and_namespaces_are_alike():
    shelf = [
        make_item("send_letter", description=LETTER),
        make_item("sendLetter", description=LETTER, category="office"),
        make_item("weather", description="Tell the forecast."),
        make_item("send_letter", description=LETTER, namespace="team"),
    ]
    assert groups(shelf) == [[0, 1, 3], [2]]


def test_parameters_and_sections_of_the_docstring_make_no_difference():
    one = make_item("send", description=f"{LETTER}\n\nArgs:\n    to: Who.")
    other = make_item("send", description=f"{LETTER}\n\nReturns:\n    A number of pages.")
    assert groups([one, other]) == [[0, 1]]


def test_one_word_of_difference_in_a_short_description_is_a_difference():
    shelf = [make_item(name, description=f"{name} a file.") for name in ("read", "write")]
    assert groups(shelf) == [[0], [1]]


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_item_have_nothing_alike(count):
    assert groups([make_item()] * count) == [[0]] * count


def test_items_without_any_word_are_alike():
    assert groups([make_item("!", description="")] * 2) == [[0, 1]]
