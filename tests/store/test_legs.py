import math
from array import array

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from making import (
    OTHER_MODEL,
    SOURCE,
    entry_of,
    filler,
    hang,
    make_item,
    make_vector,
    retire,
    word_hits,
    work,
)
from pegboard.model.items import Filters, ItemId, Kind, ToolType, Visibility, WordHits, WordQuery
from pegboard.search.query import parse
from pegboard.text import PART_MARK, embedding_text, terms

relaxed = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SHELF = [
    make_item("a", category="mail", tags=("post", "fast"), tool_type=ToolType.PYTHON),
    make_item("b", category="mail", tags=("slow",), kind=Kind.SKILL),
    make_item("c", category="box", id=ItemId("gentools:box:c"), tool_type=ToolType.MCP),
    make_item("d", category="box", source="others", namespace="team", tags=("fast",)),
]
SHELF = [item._replace(description="Send a letter.") for item in SHELF]
FILTERED = [
    (Filters(), "abcd"),
    (Filters(kinds=("skill",)), "b"),
    (Filters(kinds=("skill", "tool")), "abcd"),
    (Filters(categories=("box",)), "cd"),
    (Filters(tags=("fast",)), "ad"),
    (Filters(tags=("slow", "post")), "ab"),
    (Filters(tool_types=("mcp", "python")), "ac"),
    (Filters(sources=("gentools",)), "c"),
    (Filters(sources=("others",)), "d"),
    (Filters(namespaces=("team",)), "d"),
    (Filters(categories=("mail",), tags=("fast",)), "a"),
    (Filters(categories=("mail",), namespaces=("team",)), ""),
    (Filters(tags=("fas",)), ""),
]


def by_words(store, text, filters=None, limit=10):
    return word_hits(store, parse(text).terms, filters, limit)


def by_meaning(store, embedder, text, filters=None, limit=10):
    query = embedder.embed_query(text)
    return store.index.vector(query, embedder.fingerprint, filters or Filters(), limit)


def names(hits):
    return [hit.id.rpartition(":")[2] for hit in hits]


def cosine(left, right):
    return math.fsum(a * b for a, b in zip(array("f", left), array("f", right), strict=True))


@pytest.mark.parametrize(("filters", "expected"), FILTERED)
def test_filters_bound_the_keyword_leg(store, filters, expected):
    store.items.put(SHELF, None)
    assert sorted(names(by_words(store, "letter", filters))) == list(expected)


@pytest.mark.parametrize(("filters", "expected"), FILTERED)
def test_filters_bound_the_vector_leg(store, embedder, filters, expected):
    hang(store, embedder, *SHELF)
    assert sorted(names(by_meaning(store, embedder, "letter", filters))) == list(expected)


def test_filters_apply_before_the_limit(store, embedder):
    better = [make_item(f"letter{n}", description="Letter, letter.") for n in range(20)]
    wanted = make_item("other", category="box", description="Perhaps a letter among many things.")
    hang(store, embedder, *better, wanted)
    filters = Filters(categories=("box",))
    assert names(by_words(store, "letter", filters, 1)) == ["other"]
    assert names(by_meaning(store, embedder, "letter", filters, 1)) == ["other"]


def test_a_limit_keeps_the_best(store, embedder):
    shelf = [make_item(f"t{n}", description="letter " * (n + 1) + "x " * 20) for n in range(8)]
    hang(store, embedder, *shelf)
    assert by_words(store, "letter", limit=3) == by_words(store, "letter")[:3]
    assert (
        by_meaning(store, embedder, "letter", limit=3) == by_meaning(store, embedder, "letter")[:3]
    )


@pytest.mark.parametrize("visibility", [Visibility.UNLISTED, Visibility.PRIVATE])
def test_what_is_not_public_is_never_found_by_search(store, embedder, visibility):
    hidden = make_item("hidden", visibility=visibility)
    hang(store, embedder, hidden)
    everything = Filters(kinds=("tool",), categories=("mail",), sources=(SOURCE,))
    for filters in (Filters(), everything):
        assert by_words(store, "hidden", filters) == []
        assert by_meaning(store, embedder, "hidden", filters) == []


def test_ranks_count_from_one_and_scores_fall(store, embedder):
    hang(store, embedder, *SHELF, *filler(5))
    for hits in (by_words(store, "send letter mail"), by_meaning(store, embedder, "letter")):
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_equal_scores_are_ordered_by_id_whatever_the_order_of_putting(store, embedder):
    twins = [make_item("twin", id=ItemId(f"t:{letter}")) for letter in "dbaec"]
    hang(store, embedder, *twins)
    expected = [f"t:{letter}" for letter in "abcde"]
    assert [hit.id for hit in by_words(store, "twin")] == expected
    assert [hit.id for hit in by_meaning(store, embedder, "twin")] == expected


def test_no_terms_find_nothing(store):
    store.items.put(SHELF, None)
    assert store.index.keyword(WordQuery(), Filters(), 5) == WordHits()
    assert store.index.keyword_scores(WordQuery(), [1]) == {}


@pytest.mark.parametrize("word", ["or", "and", "not", "near", "NEAR", "OR", "name"])
def test_words_that_fts_would_read_as_operators_are_only_words(store, word):
    wanted = make_item("wanted", description=f"Says {word} twice.")
    store.items.put([wanted, make_item("other", description="Twice.")], None)
    assert names(word_hits(store, [word.lower()])) == ["wanted"]


@pytest.mark.parametrize(
    "hostile",
    ['"', '""', 'a"b', '" OR "a', "a*", "^a", "name:a", "NEAR(a b)", "a AND (b", "-a", "{a b}:c"],
)
def test_terms_with_quotes_and_operators_are_harmless_even_unparsed(store, hostile):
    store.items.put([make_item("wanted", description="Quite ordinary.")], None)
    assert word_hits(store, [hostile, "ordinari"])[0].rank == 1
    assert word_hits(store, [hostile]) == []
    assert store.index.frequencies([hostile, "ordinari"]) == {"ordinari": 0}


@relaxed
@given(text=st.text(max_size=200))
@example(text='name:x OR "y* NEAR(a, b) -z ^q {a}:b + \0')
@example(text="฿ ၊ ־ ।")
def test_no_question_whatever_upsets_the_keyword_leg(store, text):
    if not store.items.page(0, 1):
        store.items.put(SHELF, None)
    asked = parse(text).terms
    hits = word_hits(store, asked)
    scores = store.index.keyword_scores(WordQuery(asked), [hit.key for hit in hits])
    assert scores == {hit.key: pytest.approx(hit.score) for hit in hits}


@relaxed
@given(name=st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20))
@example(name="créerTicket")
@example(name="创建问题")
@example(name="イシューを作成")
@example(name="สร้างปัญหา")
@example(name="Создать_задачу")
@example(name="إنشاء مشكلة")
@example(name="समस्या बनाएँ")
@example(name="이슈 만들기")
def test_an_item_is_found_by_its_own_name_in_any_script(store, name):
    store.ledger.remove_source(SOURCE)
    item = make_item(name, id=ItemId("t:it"), category="", description="")
    store.items.put([item], None)
    found = names(by_words(store, name))
    if any(each.isalnum() for term in terms(name) for each in term):
        assert found == ["it"]
    elif not terms(name):
        assert found == []


def test_the_vector_leg_ranks_by_exact_cosine(store, embedder):
    shelf = [*SHELF, make_item("post"), make_item("weather", description="Forecast for a city.")]
    keys = hang(store, embedder, *shelf)
    query = embedder.embed_query("send letters by post")
    hits = by_meaning(store, embedder, "send letters by post")
    from_text = {
        entry_of(store, item).key: cosine(query, embedder.embed([embedding_text(item)])[0])
        for item in shelf
    }
    assert {hit.key: hit.score for hit in hits} == pytest.approx(from_text, abs=1e-6)
    assert len(hits) == len(keys)
    assert hits[-1].id.endswith("weather")


def test_opposite_vectors_score_below_zero_and_unrelated_ones_zero(store):
    shelf = [make_item(name) for name in ("same", "across", "opposite")]
    store.items.put(shelf, OTHER_MODEL)
    vectors = {"same": (1, 0), "across": (0, 1), "opposite": (-1, 0)}
    tasks = store.tasks.claim(OTHER_MODEL, "worker", 10, 60.0)
    done = [(task, make_vector(*vectors[task.text.split(PART_MARK)[0]])) for task in tasks]
    assert store.tasks.finish(OTHER_MODEL, done) == 3
    hits = store.index.vector(make_vector(1, 0), OTHER_MODEL, Filters(), 5)
    assert names(hits) == ["same", "across", "opposite"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.0, -1.0])


def test_vectors_of_another_model_are_never_compared(store, embedder):
    [key] = hang(store, embedder, make_item())
    query = make_vector(1, 0)
    assert store.index.vector(query, OTHER_MODEL, Filters(), 5) == []
    assert store.index.vector_scores(query, OTHER_MODEL, [key]) == {}
    other = make_item("other")
    store.items.put([other], OTHER_MODEL)
    [task] = store.tasks.claim(OTHER_MODEL, "worker", 10, 60.0)
    store.tasks.finish(OTHER_MODEL, [(task, query)])
    assert names(store.index.vector(query, OTHER_MODEL, Filters(), 5)) == ["other"]
    assert names(by_meaning(store, embedder, "other")) == ["send"]


def wait(store, embedder, item):
    store.items.put([item], embedder.fingerprint)


def fail(store, embedder, item):
    store.items.put([item], embedder.fingerprint)
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.tasks.fail("worker", task, "too hard", None)


def disable(store, embedder, item):
    store.items.put([item], embedder.fingerprint)
    store.tasks.disable()


def never_ask(store, embedder, item):
    store.items.put([item], None)


def edit(store, embedder, item):
    hang(store, embedder, item._replace(description="A letter of long ago."))
    store.items.put([item], embedder.fingerprint)


def edit_meanwhile(store, embedder, item):
    store.items.put([item._replace(description="A letter of old.")], embedder.fingerprint)
    tasks = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    store.items.put([item], embedder.fingerprint)
    vectors = embedder.embed([task.text for task in tasks])
    store.tasks.finish(embedder.fingerprint, list(zip(tasks, vectors, strict=True)))


def embed_by_another_model(store, embedder, item):
    store.items.put([item], OTHER_MODEL)
    [task] = store.tasks.claim(OTHER_MODEL, "worker", 1, 60.0)
    store.tasks.finish(OTHER_MODEL, [(task, make_vector(1, 0))])


UNREADY = {
    "pending": wait,
    "failed": fail,
    "disabled": disable,
    "never asked for": never_ask,
    "of a text it no longer has": edit,
    "of a text that was edited meanwhile": edit_meanwhile,
    "of another model": embed_by_another_model,
}


@pytest.mark.parametrize("make", UNREADY.values(), ids=UNREADY)
def test_an_item_whose_vector_is_not_ready_is_found_by_words_and_never_by_meaning(
    store, embedder, make
):
    item = make_item("letter")
    hang(store, embedder, make_item("ready", description="Another letter."))
    make(store, embedder, item)
    key = entry_of(store, item).key
    query = embedder.embed_query("letter")
    assert "letter" in names(by_words(store, "letter"))
    assert names(by_meaning(store, embedder, "letter")) == ["ready"]
    assert store.index.vector_scores(query, embedder.fingerprint, [key]) == {}


def test_an_item_that_lost_its_text_or_its_place_is_no_longer_found_by_meaning(store, embedder):
    gone, blank, stays = make_item("gone"), make_item("blank"), make_item("stays")
    never = make_item("", category="", description="", id=ItemId("t:never"))
    hang(store, embedder, gone, blank, stays, never)
    store.items.put([blank._replace(name="", category="", description="")], embedder.fingerprint)
    retire(store, blank, stays, never)
    assert names(by_meaning(store, embedder, "stays")) == ["stays"]


def test_words_find_everything_while_one_vector_after_another_is_made_anew(store, embedder):
    shelf = [make_item(f"letter{n}", description="A letter.") for n in range(4)]
    store.items.put(shelf, None)
    entries = [entry_of(store, item) for item in shelf]
    texts = [(e.key, e.content_hash, embedding_text(e.item)) for e in entries]
    assert store.tasks.enqueue(embedder.fingerprint, texts) == len(shelf)
    for done in range(len(shelf) + 1):
        assert len(by_words(store, "letter")) == len(shelf)
        assert len(by_meaning(store, embedder, "letter")) == done
        work(store, embedder, limit=1)


def test_a_vector_that_is_asked_for_again_serves_even_if_the_new_one_fails(store, embedder):
    item = make_item("letter")
    hang(store, embedder, item)
    entry = entry_of(store, item)
    text = embedding_text(item)
    store.tasks.enqueue(embedder.fingerprint, [(entry.key, entry.content_hash, text)])
    [task] = store.tasks.claim(embedder.fingerprint, "worker", 1, 60.0)
    assert names(by_meaning(store, embedder, "letter")) == ["letter"]
    store.tasks.fail("worker", task, "too hard", None)
    assert names(by_meaning(store, embedder, "letter")) == ["letter"]


def test_scores_of_chosen_items_are_those_of_the_legs(store, embedder):
    keys = hang(store, embedder, *SHELF, *filler(3))
    asked = WordQuery(parse("send letters").terms)
    words = {hit.key: hit.score for hit in by_words(store, "send letters")}
    chosen = [keys[0], keys[-1]]
    assert store.index.keyword_scores(asked, chosen) == {keys[0]: pytest.approx(words[keys[0]])}
    meaning = {hit.key: hit.score for hit in by_meaning(store, embedder, "send letters")}
    query = embedder.embed_query("send letters")
    assert store.index.vector_scores(query, embedder.fingerprint, chosen) == {
        key: pytest.approx(meaning[key]) for key in chosen
    }


def test_entries_come_by_key_and_unknown_keys_are_left_out(store):
    store.items.put(SHELF[:2], None)
    one, two = (entry_of(store, item) for item in SHELF[:2])
    assert store.index.entries([two.key, 999, one.key]) == {one.key: one, two.key: two}
    assert store.index.entries([]) == {}
