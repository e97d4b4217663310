"""A hundred thousand queries of every kind: none is an error, and none costs more than its bounds.

What is asked is made from a seed, so that a failure can be repeated. All of them go through the
match of words; with PEGBOARD_TEST_QUERIES=100000, as many through the whole search as well.
"""

import os
import random
import sys

import pytest

from making import hang, in_memory, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.find.gathering import MOST_MISSPELLED, gather
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import Filters, Mode
from pegboard.search.query import MAX_CHARACTERS, MAX_TERMS, choose, parse
from pegboard.search.spelling import endings, nearest

EMBEDDER = PartsEmbedder(HashedEmbedder(64))
SETTINGS = FindSettings()
ALL = 100_000
BY_WORDS = 3_000
WHOLE = int(os.environ.get("PEGBOARD_TEST_QUERIES", "2000"))
HUGE = 24
SHELF = {
    "send_letter": "Send a letter to the office.",
    "createIssue": "Create an issue, or not.",
    "создать_задачу": "Создать новую задачу.",
    "创建问题": "在仓库中创建一个问题",
    "สร้างปัญหา": "สร้างปัญหาในที่เก็บ",
    "समस्या": "एक समस्या बनाएँ",
}
SYNTAX = ["AND", "OR", "NOT", "NEAR(", "NEAR(a b, 3)", '"', '""', "'", "*", "^", ":", "-", "+"]
SYNTAX += ["(", ")", "{name}:", "name:", "--", ";", "%", "_", "\\", "/*", "*/", "||", "?1", ":x"]
STOP = ["the", "a", "of", "to", "and", "is", "it", "you", "your", "please", "how", "who"]
ODD = ["\0", "\ud800", "\udfff", "\x1b[31m", "\r\n", "\u2028", "\u200d", "\ufeff", "\ufdfa", "\x7f"]
ODD += ["\u0301" * 5, "\U0010ffff", "\ufffe", "🎉", "👩‍👩‍👧", "İ", "ß", "ǅ", "\u202e", "¼", "٣"]
KNOWN = [
    "send",
    "leter",
    "letter",
    "isue",
    "createIsue",
    "задача",
    "问题",
    "ปัญหา",
    "समस्या",
    "creat",
]
NEAR = ["letter", "issue", "задачу"]


def piece(dice):
    """One of the things that queries are made of."""
    kind = dice.random()
    if kind < 0.3:
        return dice.choice(dice.choice((SYNTAX, STOP, ODD, KNOWN)))
    if kind < 0.6:
        return "".join(dice.choices("abcdefghijklmnopqrstuvwxyzABC_019", k=dice.randint(1, 12)))
    if kind < 0.9:
        return "".join(map(chr, dice.choices(range(0x3000), k=dice.randint(1, 8))))
    return chr(dice.randrange(sys.maxunicode + 1)) * dice.randint(1, 5)


def queries(seed, count, most=8):
    dice = random.Random(seed)
    for _ in range(count):
        glue = dice.choice(("", " ", " ", "\t", "\u3000"))
        yield glue.join(piece(dice) for _ in range(dice.randint(1, most)))


def huge(seed, count):
    """A hundred kilobytes each, of one thing or of many."""
    dice = random.Random(seed)
    for n in range(count):
        unit = piece(dice) if n % 2 else " ".join(piece(dice) for _ in range(200))
        yield (unit * (100_000 // len(unit) + 1))[:100_000]


@pytest.fixture(scope="module")
def store():
    made = in_memory()
    hang(made, EMBEDDER, *(make_item(name, description=said) for name, said in SHELF.items()))
    yield made
    made.close()


def match(store, text):
    """Parse, choose, read misspelled words, and look for all of it, whether it is known or not."""
    query = parse(text)
    assert len(query.text) <= MAX_CHARACTERS
    assert len(query.terms) <= MAX_TERMS
    wanted = choose(query.terms, dict.fromkeys(query.terms, 0))
    assert wanted.lead == wanted.terms == query.terms
    assert len(store.index.keyword(wanted, Filters(), 5).hits) <= 5
    for word in query.words[:1]:
        assert word not in (*nearest(word, NEAR), *endings(word, NEAR))


def look(store, text):
    """The same as a search does it, with everything but the meaning."""
    query = parse(text)
    if query.blank:
        return
    found = gather(store, None, query, Mode.HYBRID, Filters(), 5)
    assert set(found.wanted.lead) <= set(found.wanted.terms) <= set(query.terms)
    assert len(found.read_as) <= MOST_MISSPELLED
    assert len(found.evidence.candidates) <= len(SHELF)


def answered(store, text, mode):
    answer = find(store, EMBEDDER, Ask(text, mode, threshold=0.0), SETTINGS)
    assert all(0 <= hit.score <= 1 for hit in answer.hits)
    assert len({hit.id for hit in answer.hits}) == len(answer.hits) <= 5
    assert all(len(hit.reason.splitlines()) == 1 for hit in answer.hits)


@pytest.mark.parametrize("seed", range(4))
def test_no_query_upsets_the_match_of_its_words(store, seed, share):
    for text in queries(seed, int(share * ALL / 4), most=2):
        match(store, text)


def test_no_query_upsets_the_search_by_words(store, share):
    for text in queries("words", int(share * BY_WORDS)):
        look(store, text)


@pytest.mark.parametrize("mode", Mode)
def test_no_query_upsets_the_whole_search(store, mode, share):
    for text in queries(mode, int(share * WHOLE / len(Mode)), most=20):
        answered(store, text, mode)


@pytest.mark.parametrize("mode", Mode)
def test_no_query_is_too_long(store, mode):
    for text in huge(mode, HUGE // len(Mode)):
        assert len(text) == 100_000
        answered(store, text, mode)


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "text",
    [" ".join(STOP), *SYNTAX, *ODD, "x" * 100_000, "\0" * 100_000, '"' * 100_000, "a " * 50_000],
    ids=lambda text: ascii(text[:12]),
)
def test_each_odd_thing_by_itself_is_answered(store, mode, text):
    answered(store, text, mode)


def test_the_same_seed_makes_the_same_queries():
    assert list(queries(7, 50)) == list(queries(7, 50))
    assert len(set(queries(7, 50)) & set(queries(8, 50))) < 50
