"""Exact words of a description never end in "no tool fits"."""

import pytest

from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.model.items import Filters

STORES = ("sqlite", "postgres")

PARAMETER = "the quaint leather saddle whose rivets were counted twice by moonlight"
HEAD = f'''
def run(saddle: str):
    """Send a parcel.

    Args:
        saddle: {PARAMETER}
    """
'''


@pytest.fixture
def ask(board, folder):
    folder.raw("mail/send_parcel", HEAD.encode())
    board.sync()

    def run(text, **rest):
        return find(board.store, board.embedder, Ask(text, **rest), FindSettings(threshold=0.2))

    return run


@pytest.mark.parametrize("text", [PARAMETER, "whose rivets were counted twice", "rivets were"])
def test_words_of_a_parameter_find_its_tool(ask, text):
    [hit] = ask(text).hits
    assert hit.name == "send_parcel"
    assert hit.fit >= 0.2


def test_other_words_find_nothing(ask):
    assert not ask("a saddle for a camel on a journey through the desert by moonlight").hits


def test_a_higher_threshold_holds(ask):
    assert not ask("whose rivets were counted twice", threshold=0.9).hits


def test_a_filter_holds(ask):
    assert not ask("whose rivets were counted twice", filters=Filters(categories=("chat",))).hits


def test_an_explanation_shows_it_first(ask):
    found = ask("whose rivets were counted twice", explain=True).explanation
    assert (found.items[0].fate, found.items[0].fit >= 0.2) == ("shown", True)
