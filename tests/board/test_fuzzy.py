"""Misspelled and unfinished words: what they are read as, and what that may and may not do."""

import pytest

from making import filler, hang, make_item, purge, retire
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import ItemId, MatchType, Mode

EMBEDDER = PartsEmbedder(HashedEmbedder())
SHELF = {
    "read_file": "Give the text of a document.",
    "write_file": "Put text into a document.",
    "create_issue": "Open a ticket in the tracker.",
    "close_issue": "Shut a ticket in the tracker.",
    "list_repositories": "Show all that the account owns.",
    "Größe_ändern": "Bilder kleiner machen.",
    "создать_задачу": "Новая работа для кого-то.",
}
TYPOS = [
    ("read_fil", "read_file"),
    ("read fiel", "read_file"),
    ("raed file", "read_file"),
    ("creat isue", "create_issue"),
    ("create isseu", "create_issue"),
    ("create isssue", "create_issue"),
    ("creaate issue", "create_issue"),
    ("xreate issue", "create_issue"),
    ("reate issue", "create_issue"),
    ("createIsue", "create_issue"),
    ("cloze_issue", "close_issue"),
    ("list repositroies", "list_repositories"),
    ("list repo", "list_repositories"),
    ("grösse andrn", "Größe_ändern"),
    ("создать задачю", "создать_задачу"),
]


@pytest.fixture
def ask(store):
    hang(store, EMBEDDER, *(make_item(n, description=d) for n, d in SHELF.items()), *filler(20))

    def run(text, mode=Mode.HYBRID, embedder=EMBEDDER, **rest):
        rest = {"threshold": 0.0, "limit": 30} | rest
        return find(store, embedder, Ask(text, mode, **rest), FindSettings())

    return run


def named(answer):
    return [hit.name for hit in answer.hits]


@pytest.mark.parametrize(("text", "meant"), TYPOS)
@pytest.mark.parametrize("embedder", [EMBEDDER, None], ids=["with meaning", "by words"])
def test_a_misspelled_query_has_the_tool_that_was_meant_first(ask, text, meant, embedder):
    assert named(ask(text, embedder=embedder))[0] == meant


@pytest.mark.parametrize(("text", "meant"), TYPOS)
def test_the_fuzzy_mode_finds_it_alone(ask, text, meant):
    answer = ask(text, Mode.FUZZY)
    assert named(answer)[0] == meant
    assert all(set(hit.breakdown) <= {"fuzzy", "boosts"} for hit in answer.hits)
    assert all(hit.match_type is MatchType.FUZZY for hit in answer.hits)


def test_without_it_a_search_by_words_finds_nothing_for_a_word_that_is_wrong(ask):
    assert named(ask("isue", Mode.BM25)) == []
    assert set(named(ask("isue", Mode.FUZZY))) == {"create_issue", "close_issue"}


def test_the_match_type_and_the_reason_say_that_a_word_was_guessed(ask):
    hit = ask("isue", embedder=None).hits[0]
    assert hit.match_type is MatchType.FUZZY
    assert "“isue” read as “issue”" in hit.reason
    assert "shares" not in hit.reason
    assert "bm25" not in hit.breakdown
    assert hit.breakdown["fuzzy"]["score"] > 0


def test_a_word_as_written_beside_a_guessed_one_makes_it_a_match_by_words(ask):
    hit = ask("create isue", embedder=None).hits[0]
    assert hit.name == "create_issue"
    assert hit.match_type is MatchType.KEYWORD
    assert "shares “create”" in hit.reason
    assert "“isue” read as “issue”" in hit.reason


@pytest.mark.parametrize("text", ["create issue", "read", "issues", "reading the FILES", "file of"])
@pytest.mark.parametrize("embedder", [EMBEDDER, None], ids=["with meaning", "by words"])
def test_it_stays_out_of_it_when_all_words_are_known(ask, text, embedder):
    answer = ask(text, embedder=embedder, explain=True)
    assert answer.hits
    assert all("fuzzy" not in hit.breakdown for hit in answer.hits)
    assert all(hit.match_type is not MatchType.FUZZY for hit in answer.hits)
    assert all(fact.read_as == () for fact in answer.explanation.words)
    assert "known fuzzy" not in answer.explanation.weights


def test_in_its_own_mode_known_words_are_looked_for_as_they_are(ask):
    assert named(ask("create issue", Mode.FUZZY))[0] == "create_issue"


@pytest.mark.parametrize("text", ["ab", "xq", "zzzzqqqq", "邮件", "!?"])
def test_what_is_near_no_word_is_read_as_none(ask, text):
    assert ask(text, Mode.FUZZY).hits == ()


def test_the_explanation_tells_what_each_word_was_read_as(ask):
    facts = {fact.term: fact for fact in ask("create isue zzzz", explain=True).explanation.words}
    assert facts["creat"].known
    assert facts["creat"].read_as == ()
    assert not facts["isu"].known
    assert facts["isu"].read_as == ("issue",)
    assert facts["zzzz"].read_as == ()


def test_a_guess_does_not_outrank_a_clean_match(store):
    """Alike in everything, but one has a word that was written and one a word that was guessed."""
    shelf = [
        make_item(name, id=ItemId(where), description="")
        for where, name in (("a", "marble"), ("b", "pebble"))
    ]
    hang(store, EMBEDDER, *shelf, *filler(20))
    for text in ("pebble marbel", "marbel pebble"):
        answer = find(store, None, Ask(text, threshold=0.0), FindSettings())
        assert named(answer) == ["pebble", "marble"]
        assert [hit.match_type for hit in answer.hits] == [MatchType.KEYWORD, MatchType.FUZZY]
        assert answer.hits[0].score >= answer.hits[1].score


def test_a_guessed_word_makes_a_search_less_sure_than_the_word_as_written(store):
    hang(store, EMBEDDER, make_item("marble_pebble_box", description=""), *filler(20))

    def score(text):
        return find(store, None, Ask(text, threshold=0.0), FindSettings()).hits[0].score

    assert score("marbel pebbel") < score("marbel pebble") < score("marble pebble")


def test_a_word_that_only_removed_items_had_is_not_read_into_a_query(store):
    hang(store, EMBEDDER, make_item("isle"), make_item("tissue"), *filler(5))
    retire(store)
    purge(store)
    hang(store, EMBEDDER, make_item("issue"), *filler(5))
    for mode in (Mode.FUZZY, Mode.HYBRID):
        answer = find(store, None, Ask("isue", mode, threshold=0.0, explain=True), FindSettings())
        assert named(answer) == ["issue"]
        [fact] = answer.explanation.words
        assert fact.read_as == ("issue",)


def test_a_query_near_nothing_but_removed_words_finds_nothing_and_is_no_error(store):
    hang(store, EMBEDDER, make_item("quagga"))
    retire(store)
    purge(store)
    hang(store, EMBEDDER, *filler(5))
    for text in ("quaga", "quagg", "quagga"):
        answer = find(
            store, None, Ask(text, Mode.FUZZY, threshold=0.0, explain=True), FindSettings()
        )
        assert answer.hits == ()
        assert all(fact.read_as == () for fact in answer.explanation.words)
