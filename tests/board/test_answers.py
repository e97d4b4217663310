"""What an answer holds: names, thresholds, small advantages, look-alikes, and its explanation."""

import itertools

import pytest

from making import entry_of, filler, hang, in_memory, make_item
from pegboard.board.find.answering import NEAREST, Ask, FindSettings, find
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import Filters, ItemId, Kind, Mode
from pegboard.search.boosts import MOST, BoostSettings
from pegboard.search.confidence import Rater
from pegboard.search.fusion import FusionSettings, Method

EMBEDDER = PartsEmbedder(HashedEmbedder())
OFF = BoostSettings(0.0, 0.0, 0.0, 0.0)
RUN_QUERY = make_item("run_query", description="Ask the database something.")
NOISE = make_item("query_runner", description="Run query run query, to run a query: run query.")


@pytest.fixture
def store():
    """Nothing here needs a file."""
    made = in_memory()
    yield made
    made.close()


@pytest.fixture
def ask(store):
    """Whatever is found is shown, unless a threshold is given."""

    def run(text, mode=Mode.HYBRID, embedder=EMBEDDER, boosts=None, fusion=None, **rest):
        rest = {"threshold": 0.0, "limit": 30} | rest
        settings = FindSettings(boosts=boosts or BoostSettings(), fusion=fusion or FusionSettings())
        return find(store, embedder, Ask(text, mode, **rest), settings)

    return run


def ids(answer):
    return [hit.id for hit in answer.hits]


SPELLINGS = [
    "run_query",
    "runQuery",
    "RunQuery",
    "Run query",
    "RUN-QUERY!",
    " run  query ",
    "runquery",
]


@pytest.mark.parametrize("text", SPELLINGS)
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("method", Method)
def test_an_item_asked_for_by_its_name_comes_first(store, ask, text, mode, method):
    hang(store, EMBEDDER, NOISE, RUN_QUERY, *filler(10))
    hits = ask(text, mode, fusion=FusionSettings(method)).hits
    assert hits[0].id == RUN_QUERY.id
    assert hits[0].reason.startswith("its name is the query")
    assert all("its name is the query" not in hit.reason for hit in hits[1:])
    assert all(hits[0].score >= hit.score for hit in hits)


@pytest.mark.parametrize("name", ["run_query", "runQuery", "Run Query", "RUN_QUERY"])
def test_a_name_is_the_same_however_the_source_spells_it(store, ask, name):
    hang(store, EMBEDDER, NOISE, make_item(name, id=ItemId("x")), *filler(10))
    assert all(ids(ask(text))[0] == "x" for text in SPELLINGS)


@pytest.mark.parametrize("name", ["创建问题", "создать_задачу", "Größe ändern", "समस्या बनाएँ"])
def test_names_in_any_script_are_names(store, ask, name):
    hang(store, EMBEDDER, make_item(name, id=ItemId("x")), *filler(10))
    for text in (name, name.upper(), name.replace("_", " ")):
        assert "its name is the query" in ask(text).hits[0].reason


@pytest.mark.parametrize("text", ["run_query now", "run_queries", "query", "please run query"])
def test_more_or_less_than_the_name_is_not_the_name(store, ask, text):
    hang(store, EMBEDDER, NOISE, RUN_QUERY, *filler(10))
    assert all("its name is the query" not in hit.reason for hit in ask(text).hits)


@pytest.mark.parametrize("text", ["!!!", "🎉", "___", "?"])
def test_a_query_without_a_letter_names_nothing(store, ask, text):
    hang(store, EMBEDDER, make_item("!", id=ItemId("x")), RUN_QUERY)
    assert all("its name is the query" not in hit.reason for hit in ask(text).hits)


def test_all_items_of_one_name_come_first_the_best_of_them_before_the_others(store, ask):
    shelf = [
        RUN_QUERY._replace(id=ItemId("a"), description="Feed the goldfish.", category="zoo"),
        RUN_QUERY._replace(id=ItemId("b"), description="Run a query.", category="sql"),
        RUN_QUERY._replace(id=ItemId("c"), name="runQuery", namespace="team", category="zoo"),
    ]
    hang(store, EMBEDDER, NOISE, *shelf, *filler(10))
    answer = ask("run query")
    assert ids(answer)[0] == "b"
    assert set(ids(answer)[:3]) == {"a", "b", "c"}
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("filters", "first"),
    [
        (Filters(categories=("sql",)), "b"),
        (Filters(namespaces=("team",)), "c"),
        (Filters(kinds=("skill",)), "d"),
        (Filters(categories=("mail",)), NOISE.id),
    ],
)
@pytest.mark.parametrize("mode", Mode)
def test_a_name_does_not_get_past_a_filter(store, ask, filters, first, mode):
    shelf = [
        RUN_QUERY._replace(id=ItemId("b"), category="sql"),
        RUN_QUERY._replace(id=ItemId("c"), category="zoo", namespace="team"),
        RUN_QUERY._replace(id=ItemId("d"), category="zoo", kind=Kind.SKILL),
    ]
    hang(store, EMBEDDER, NOISE, *shelf)
    answer = ask("run query", mode, filters=filters)
    assert ids(answer)[0] == first
    assert len(answer.hits) == 1


LETTERS = [
    make_item("send_letter", description="Send a letter to the office."),
    make_item("read_letter", description="Read a letter aloud."),
    make_item("ring_bell", description="Ring the bell of the counter."),
    make_item("feed_fish", description="Feed the fish on Sundays."),
]


def test_what_comes_nearest_is_given_only_if_nothing_fits(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    everything = ask("send a letter")
    assert (len(everything.hits), everything.nearest) == (4, ())
    nothing = ask("send a letter", threshold=1.0)
    assert nothing.hits == ()
    assert nothing.nearest == everything.hits[:NEAREST]
    assert len(ask("send a letter", threshold=1.0, limit=1).nearest) == NEAREST


def test_exact_words_find_an_item_far_behind_others(store, ask, monkeypatch):
    said = {"properties": {"colour": {"description": "Colour of the envelope flap."}}}
    right = make_item("post", description="Nothing else. " * 40, input_schema=said)
    others = [make_item(f"colour_envelope_flap_{n}") for n in range(28)]
    hang(store, EMBEDDER, *others, right)
    rate = Rater.rate
    monkeypatch.setattr(Rater, "rate", lambda *args: rate(*args)._replace(fit=0.1))
    assert ids(ask("colour of the envelope flap", limit=1, threshold=0.2)) == [right.id]
    assert len(ask("flap colour", limit=1, threshold=0.2).nearest) == NEAREST


def test_a_threshold_that_is_given_means_the_same_as_the_setting(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    everything = ask("send a letter", threshold=0.0).hits
    best = max(hit.fit for hit in everything)
    for threshold in (0.0, 0.1, 0.5, best, 1.0):
        given = ask("send a letter", threshold=threshold)
        settings = FindSettings(threshold=threshold)
        assert given.hits == find(store, EMBEDDER, Ask("send a letter"), settings).hits
        shown = [hit for hit in everything if hit.fit >= min(0.05, threshold)]
        assert list(given.hits) == (shown[:5] if best >= threshold else [])
        assert bool(given.nearest) == (best < threshold)


def test_on_an_empty_board_nothing_is_found_and_nothing_near(ask):
    for mode in Mode:
        answer = ask("send a letter", mode)
        assert (answer.hits, answer.nearest) == ((), ())


def twins(count=2, **fields):
    return [
        make_item("post_letter", id=ItemId(f"t:{n}"), description="Post it.", **fields)
        for n in range(count)
    ]


def credit(store, item, **columns):
    said = ", ".join(f"{name} = :{name}" for name in columns)
    params = columns | {"key": entry_of(store, item).key}
    store.database.rows(f"UPDATE items SET {said} WHERE key = :key", params)


CREDITS = {
    "recency": {"updated_at": 0.0},
    "quality": {"quality_score": 1.0},
    "usage": {"download_count": 500},
    "semantic_weight": {"semantic_weight": 2.0},
}


@pytest.mark.parametrize("name", ["quality", "usage", "semantic_weight"])
@pytest.mark.parametrize("method", Method)
def test_an_advantage_decides_between_equals_and_is_told(store, ask, name, method):
    one, other = twins()
    hang(store, EMBEDDER, one, other, *filler(5))
    assert ids(ask("letters"))[:2] == ["t:0", "t:1"]
    credit(store, other, **CREDITS[name])
    fusion = FusionSettings(method)
    if method is Method.SUM:
        hits = ask("letters", fusion=fusion).hits
        assert [hit.id for hit in hits][:2] == ["t:1", "t:0"]
        assert hits[0].breakdown["boosts"][name] > 0
        assert name not in hits[1].breakdown["boosts"]
        assert hits[0].score > hits[1].score
    off = BoostSettings()._replace(**{name: 0.0})
    without = ask("letters", boosts=off, fusion=fusion).hits
    assert [hit.id for hit in without][:2] == ["t:0", "t:1"]
    assert all(name not in hit.breakdown.get("boosts", {}) for hit in without)


def test_of_equals_the_one_changed_lately_comes_first_unless_that_is_switched_off(store, ask):
    old, new = twins()
    hang(store, EMBEDDER, old, new, *filler(5))
    credit(store, old, updated_at=0.0)
    assert ids(ask("letters"))[:2] == ["t:1", "t:0"]
    assert ids(ask("letters", boosts=OFF))[:2] == ["t:0", "t:1"]


def test_with_all_switched_off_none_is_told(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    credit(store, LETTERS[0], quality_score=1.0, download_count=9, semantic_weight=2.0)
    assert all("boosts" not in hit.breakdown for hit in ask("letter", boosts=OFF).hits)


@pytest.mark.parametrize("text", ["send a letter", "letter", "bell", "fish to the office"])
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("method", Method)
def test_no_advantage_lifts_an_item_above_one_that_is_clearly_better(
    store, ask, text, mode, method
):
    hang(store, EMBEDDER, *LETTERS, *twins(3), *filler(10))
    fusion = FusionSettings(method)
    most = BoostSettings(MOST, MOST, MOST, MOST)
    plain = ask(text, mode, boosts=OFF, fusion=fusion, explain=True).explanation.items
    for item in LETTERS:
        credit(store, item, updated_at=0.0, semantic_weight=-9.0)
    for item in LETTERS[::2]:
        credit(store, item, quality_score=1.0, download_count=10**6, semantic_weight=9.0)
    answer = ask(text, mode, boosts=most, fusion=fusion, explain=True)
    place = {each.id: n for n, each in enumerate(answer.explanation.items)}
    for better, worse in itertools.combinations(plain, 2):
        if better.fused - worse.fused > 2 * MOST and {better.id, worse.id} <= place.keys():
            assert place[better.id] < place[worse.id]


COPIES = [
    make_item("send_letter", id=ItemId(where), category=where, description="Send a letter by post.")
    for where in ("a", "b", "c")
]


def test_look_alikes_are_folded_into_the_best_of_them_in_the_same_order(store, ask):
    others = [make_item("weigh_letter", description="Tell what a letter weighs."), *LETTERS[2:]]
    hang(store, EMBEDDER, *COPIES, *others)
    plain, folded = ask("letter by post"), ask("letter by post", diverse=True)
    assert {hit.id for hit in plain.hits[:3]} == {"a", "b", "c"}
    assert all(hit.like_it == () for hit in plain.hits)
    leader = plain.hits[0]
    assert folded.hits[0].id == leader.id
    assert folded.hits[0].like_it == tuple(hit.id for hit in plain.hits[1:3])
    left = [hit for hit in plain.hits if hit.id not in folded.hits[0].like_it]
    assert [(hit.id, hit.score) for hit in folded.hits] == [(hit.id, hit.score) for hit in left]


def test_a_limit_counts_leaders_and_not_those_behind_them(store, ask):
    hang(store, EMBEDDER, *COPIES, *LETTERS)
    assert len(ask("send a letter", limit=2).hits) == 2
    folded = ask("send a letter", limit=2, diverse=True).hits
    assert len(folded) == 2
    assert len(folded[0].like_it) + len(folded[1].like_it) >= 2


def test_look_alikes_below_the_threshold_are_not_counted(store, ask):
    hang(store, EMBEDDER, *COPIES)
    assert ask("send a letter", threshold=1.0, diverse=True).hits == ()


def test_an_explanation_tells_the_words_the_weights_and_each_items_way(store, ask):
    hang(store, EMBEDDER, *LETTERS, *filler(10))
    answer = ask("send a letter to zzzz", limit=1, explain=True, threshold=0.0)
    told = answer.explanation
    assert told.query == "send a letter to zzzz"
    assert [(fact.term, fact.known, fact.used) for fact in told.words] == [
        ("send", True, True),
        ("letter", True, True),
        ("zzzz", False, False),
    ]
    assert told.weights["alpha"] == FusionSettings().alpha
    assert told.weights["known bm25"] == pytest.approx(2 / 3, abs=1e-3)
    first, *others = told.items
    assert (first.id, first.fate) == (answer.hits[0].id, "shown")
    assert {each.fate for each in others} == {"beyond the limit"}
    shared = ("letter", "send")
    assert first.fields == {"name": shared, "description": shared}
    assert first.ranks["bm25"] == first.ranks["vector"] == 1
    assert first.fused == pytest.approx(
        first.meaning + first.words + first.ranker + sum(first.boosts.values()), abs=1e-3
    )
    assert first.score == answer.hits[0].score
    assert "name covers 'send', 'letter'" in first.ranked_by


def test_only_what_was_reranked_is_explained_by_the_ranker(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    told = ask("send a letter", Mode.BM25, explain=True).explanation
    assert {each.ranked_by for each in told.items} == {()}


def test_the_ranker_reads_a_misspelled_word_as_the_search_does(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    first, *_ = ask("send a leter", explain=True).explanation.items
    assert "name covers 'send', 'letter'" in first.ranked_by


def test_an_explanation_tells_why_nothing_is_shown(store, ask):
    hang(store, EMBEDDER, *LETTERS)
    told = ask("send a letter", threshold=1.0, explain=True).explanation
    assert told.threshold == 1.0
    assert {each.fate for each in told.items} == {"below the threshold"}


def test_an_explanation_names_the_leader_of_what_was_folded(store, ask):
    hang(store, EMBEDDER, *COPIES, *LETTERS[2:])
    told = ask("send a letter", diverse=True, explain=True).explanation
    fates = {each.id: each.fate for each in told.items}
    assert [fates[each] for each in "abc"] == ["shown", "like a", "like a"]


def test_the_explanation_changes_nothing(store, ask):
    hang(store, EMBEDDER, *LETTERS, *COPIES)
    for mode in Mode:
        assert ask("send leter", mode, explain=True).hits == ask("send leter", mode).hits


@pytest.mark.parametrize("embedder", [EMBEDDER, None])
@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("method", Method)
def test_a_query_that_is_a_whole_title_finds_that_item_first(store, ask, mode, embedder, method):
    titled = make_item("x_1", title="Send a letter", description="Anything at all.")
    hang(store, EMBEDDER, *LETTERS, titled, make_item("send_letter", id=ItemId("s:letter")))
    first = ask("Send a letter", mode, embedder, fusion=FusionSettings(method)).hits[0]
    assert (first.name, first.title) == ("x_1", "Send a letter")
    assert first.reason.startswith("its title is the query")
    assert first.score >= 0.9
