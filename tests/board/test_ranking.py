"""Rankings hold still: for every process, thread and order of putting, and under every filter."""

import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from making import filler, hang, in_memory, make_item
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.board.find.gathering import gather
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.model.items import Filters, ItemId, Kind, Leg, Mode, ToolType
from pegboard.search import query as queries
from pegboard.search.fusion import FusionSettings, Method
from pegboard.search.query import parse
from pegboard.store import limits
from pegboard.store.sqlite.store import SqliteStore

relaxed = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
EMBEDDER = PartsEmbedder(HashedEmbedder(64))
WORDS = ["send", "letter", "office", "stamp", "zebra", "forecast", "город", "邮件", "issue", "file"]
word = st.sampled_from(WORDS)
sayings = st.lists(word, max_size=5).map(" ".join)
some_names = st.lists(word, min_size=1, max_size=2).map("_".join)


LABELS = {
    "authors": "author",
    "protocols": "source_protocol",
    "domains": "routing_domain",
    "semantic_namespaces": "semantic_namespace",
    "sensitivity_tiers": "sensitivity_tier",
}
LISTED = {"personas": "target_personas", "skills": "skills"}
SAID = dict.fromkeys(LABELS.values(), st.sampled_from(["", "one", "two"])) | dict.fromkeys(
    LISTED.values(), st.lists(st.sampled_from(["one", "two"]), unique=True).map(tuple)
)


@st.composite
def shelves(draw, most=12):
    """Items with unique ids over few names, words, categories, tags and so on."""
    return [
        make_item(
            draw(some_names),
            id=ItemId(f"{draw(st.sampled_from(['mcptools', 'gentools']))}:{n:02}"),
            kind=draw(st.sampled_from(Kind)),
            category=draw(st.sampled_from(["mail", "box", ""])),
            namespace=draw(st.sampled_from(["public", "team"])),
            source=draw(st.sampled_from(["tools", "others"])),
            tool_type=draw(st.none() | st.sampled_from(ToolType)),
            tags=tuple(draw(st.lists(st.sampled_from(["fast", "slow"]), unique=True))),
            description=draw(sayings),
            body=draw(sayings),
            semantic_weight=draw(st.sampled_from([0.0, 1.0, 1.0, 2.0])),
            **{field: draw(said) for field, said in SAID.items()},
        )
        for n in range(draw(st.integers(1, most)))
    ]


def filters():
    def some(*values):
        return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)

    return st.builds(
        Filters,
        kinds=some(*(kind.value for kind in Kind)),
        sources=some("tools", "mcptools", "gentools"),
        categories=some("mail", "box"),
        tags=some("fast", "slow"),
        tool_types=some(*(kind.value for kind in ToolType)),
        namespaces=some("public", "team"),
        active=st.sampled_from([True, True, None, False]),
        live=st.none() | some("tools", "elsewhere"),
        linked=st.just(()),  # nothing here has links
        **dict.fromkeys((*LABELS, *LISTED), st.just(()) | st.just(()) | some("one", "two")),
    )


def misspelled(text):
    return text[:2] + text[3:] if len(text) > 4 else text


texts = st.lists(word | word.map(misspelled), min_size=1, max_size=4).map(" ".join) | some_names


def ranking(store, text, mode=Mode.HYBRID, *, chosen=None, limit=100, depth=40, fusion=None):
    ask = Ask(text, mode, chosen or Filters(), limit, threshold=0.0)
    settings = FindSettings(depth, fusion or FusionSettings())
    hits = find(store, EMBEDDER, ask, settings).hits
    return [((hit.namespace, hit.id), hit.score) for hit in hits]


def lets_through(chosen, item):
    return (
        (not chosen.kinds or item.kind in chosen.kinds)
        and (not chosen.sources or {item.source, item.scope} & set(chosen.sources))
        and (not chosen.categories or item.category in chosen.categories)
        and (not chosen.tags or set(item.tags) & set(chosen.tags))
        and (not chosen.tool_types or item.tool_type in chosen.tool_types)
        and (not chosen.namespaces or item.namespace in chosen.namespaces)
        and (chosen.live is None or _runs(item, chosen.live))
        and all(
            not getattr(chosen, wanted) or getattr(item, field) in getattr(chosen, wanted)
            for wanted, field in LABELS.items()
        )
        and all(
            not getattr(chosen, wanted) or set(getattr(item, field)) & set(getattr(chosen, wanted))
            for wanted, field in LISTED.items()
        )
        and chosen.active is not False  # all on these shelves are active
    )


def _runs(item, live):
    return item.tool_type is not None and (item.tool_type != "mcp" or item.source in live)


def narrowed(first, budgets):
    """What a large board goes through, on a small one."""
    stack = ExitStack()
    for module, name, value in (
        (limits, "FIRST", first),
        (limits, "COMMON_FROM", 1),
        (limits, "LEAST_COMMON", 1),
        (queries, "MAX_POSTINGS", budgets[0]),
        (queries, "LEAD_POSTINGS", budgets[1]),
    ):
        stack.enter_context(mock.patch.object(module, name, value))
    return stack


@relaxed
@given(
    shelf=shelves(),
    text=texts,
    chosen=filters(),
    first=st.sampled_from([3, 1000]),
    budgets=st.sampled_from([(30_000, 2_000), (12, 4), (3, 1)]),
)
@pytest.mark.parametrize("mode", Mode)
def test_a_filter_keeps_the_order_of_what_it_leaves_and_lowers_no_score(
    mode, shelf, text, chosen, first, budgets
):
    store = in_memory()
    hang(store, EMBEDDER, *shelf)
    with narrowed(first, budgets):
        store.items.take_census()
        whole = ranking(store, text, mode)
        part = ranking(store, text, mode, chosen=chosen)
        few = ranking(store, text, mode, limit=2, depth=2)
        few_of_part = ranking(store, text, mode, chosen=chosen, limit=2, depth=2)
    store.close()
    left = {(item.namespace, item.id) for item in shelf if lets_through(chosen, item)}
    assert [hit for hit, _ in part] == [hit for hit, _ in whole if hit in left]
    scores = dict(whole)
    for some in (part, few, few_of_part):
        chosen_few = [hit for hit, _ in some]
        assert chosen_few == [hit for hit, _ in whole if hit in chosen_few]
        assert all(score >= scores[hit] - 1e-4 for hit, score in some)  # fewer rivals
    assert all(hit in left for hit, _ in few_of_part)


@relaxed
@given(shelf=shelves(), text=texts, seed=st.randoms(), size=st.integers(1, 5))
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.FUZZY])
def test_the_order_of_putting_changes_nothing(mode, shelf, text, seed, size):
    found = []
    for _ in range(2):
        store = in_memory()
        for start in range(0, len(shelf), size):
            hang(store, EMBEDDER, *shelf[start : start + size])
        found.append(ranking(store, text, mode))
        store.close()
        seed.shuffle(shelf)
    assert found[0] == found[1]


@relaxed
@given(shelf=shelves(), text=texts, limit=st.integers(1, 12))
def test_scores_fall_and_a_limit_only_cuts(shelf, text, limit):
    store = in_memory()
    hang(store, EMBEDDER, *shelf)
    whole = ranking(store, text)
    assert ranking(store, text, limit=limit) == whole[:limit]
    store.close()
    scores = [score for _, score in whole]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


FUSIONS = [
    *(FusionSettings(alpha=alpha) for alpha in (0.0, 0.2, 0.9, 1.0)),
    FusionSettings(Method.RRF),
    FusionSettings(Method.RRF, bm25_weight=0.0),
]


@relaxed
@given(
    shelf=shelves(most=30),
    text=texts,
    limit=st.integers(1, 12),
    fusion=st.sampled_from(FUSIONS),
    unembedded=st.integers(0, 10),
)
def test_with_any_fusion_scores_fall_and_no_limit_changes_them(
    shelf, text, limit, fusion, unembedded
):
    store = in_memory()
    hang(store, EMBEDDER, *shelf[unembedded:])
    store.items.put(shelf[:unembedded], None)
    whole = ranking(store, text, limit=30, fusion=fusion)
    assert ranking(store, text, limit=limit, fusion=fusion) == whole[:limit]
    store.close()
    scores = [score for _, score in whole]
    assert scores == sorted(scores, reverse=True)


def test_a_hit_scores_as_much_as_a_surer_one_far_behind_it_whatever_the_limit():
    """By words alone the right item comes last here."""
    store = in_memory()
    others = [
        make_item("notes", id=ItemId(f"t:{n:02}"), description="Zebra.", body="letter send " * 9)
        for n in range(12)
    ]
    right = make_item(
        "send_letter", id=ItemId("t:99"), description="Send a letter.", body="x " * 400
    )
    hang(store, EMBEDDER, *others, right)
    by_words = FusionSettings(Method.RRF, vector_weight=0.0)
    whole, *fewer = (
        ranking(store, "please send letter", limit=limit, fusion=by_words) for limit in (30, 1, 5)
    )
    store.close()
    assert whole[-1][0][1] == "t:99"
    assert whole[0][1] >= whole[-1][1] > 0.5
    assert fewer == [whole[:1], whole[:5]]


def test_one_of_many_equals_is_lifted_whatever_the_limit():
    store = in_memory()
    equal = [make_item("send", id=ItemId(f"mcptools:{n:02}")) for n in range(12)]
    hang(store, EMBEDDER, *equal[:-1], equal[-1]._replace(semantic_weight=2.0))
    assert [name for (_, name), _ in ranking(store, "send", limit=1)] == ["mcptools:11"]
    store.close()


def test_where_no_item_has_all_words_the_best_is_found_however_few_are_looked_for():
    """The rarest word leads then, and the others decide between what it leads to."""
    store = in_memory()
    said = [("send", "send город", "forecast"), ("send_forecast", "", ""), ("send", "邮件", "")]
    said += [("send", "send forecast", ""), ("send", "邮件 город", ""), ("send", "", "forecast")]
    shelf = [
        make_item(name, id=ItemId(f"mcptools:{n:02}"), description=description, body=body)
        for n, (name, description, body) in enumerate(said)
    ]
    hang(store, EMBEDDER, *shelf)
    with narrowed(3, (3, 1)):
        store.items.take_census()
        query = "send город foecast 邮件"
        many = ranking(store, query, Mode.FUZZY)
        few = ranking(store, query, Mode.FUZZY, limit=2, depth=2)
    store.close()
    assert many[0][0] == ("public", "mcptools:00")
    assert [hit for hit, _ in few] == [hit for hit, _ in many[:2]]
    assert all(few_score >= score for (_, few_score), (_, score) in zip(few, many, strict=False))


QUERIES = ["send a letter", "zebra", "leter", "forecast for the office", "stamp issue file", "邮件"]


@pytest.fixture
def board(tmp_path):
    """Thirty tools, among them some that nothing but their id tells apart."""
    store = SqliteStore(tmp_path / "ranked.db", create=True)
    shelf = [
        make_item(
            f"{WORDS[n % 10]}_{WORDS[n % 7]}",
            id=ItemId(f"t:{n:02}"),
            description=f"{WORDS[n % 3]} {WORDS[n % 5]}",
        )
        for n in range(30)
    ]
    hang(store, EMBEDDER, *shelf, *(item._replace(id=ItemId(f"u:{item.id}")) for item in shelf))
    yield store
    store.close()


ASK = """
import json, sys
from pathlib import Path
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import PartsEmbedder
from pegboard.store.sqlite.store import SqliteStore

store, embedder = SqliteStore(Path(sys.argv[1])), PartsEmbedder(HashedEmbedder(64))
answers = [
    find(store, embedder, Ask(text, limit=100, threshold=0.0), FindSettings())
    for text in json.loads(sys.argv[2])
]
print(json.dumps([[(hit.id, hit.score) for hit in answer.hits] for answer in answers]))
"""


@pytest.mark.program
def test_every_process_ranks_alike(board):
    path = str(board.database.path)
    said = [
        subprocess.run(
            [sys.executable, "-c", ASK, path, json.dumps(QUERIES)],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in (1, 2, 3)
    ]
    assert said[0] == said[1] == said[2]
    here = [ranking(board, text) for text in QUERIES]
    assert json.loads(said[0]) == [[[found[1], score] for found, score in hits] for hits in here]


def test_every_thread_ranks_alike_at_the_same_time(board):
    expected = [ranking(board, text) for text in QUERIES]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ranking, board, text) for _ in range(10) for text in QUERIES]
        assert [each.result(60) for each in asked] == expected * 10


SHELF = {
    "send_letter": "Send a letter to the office.",
    "read_letter": "Read a letter that has come.",
    "weigh_parcel": "Tell what a parcel weighs.",
    "buy_stamps": "Buy stamps for letters and parcels.",
    "ring_bell": "Ring the bell of the counter.",
}


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("text", ["send letters", "stamps for a parcel", "bell", "read the leter"])
def test_an_unrelated_item_does_not_reorder_the_others(store, mode, text):
    """On a board that is large enough for one item more to be one among many."""
    shelf = [make_item(name, description=said) for name, said in SHELF.items()]
    hang(store, EMBEDDER, *shelf, *filler(200))
    ours = {item.id for item in shelf}

    def order():
        found = [(key[1], score) for key, score in ranking(store, text, mode, limit=300)]
        return [each for each in found if each[0] in ours]

    before = order()
    hang(store, EMBEDDER, make_item("quagga", description="Groom the quagga.", category="zoo"))
    after = order()
    assert [each for each, _ in after] == [each for each, _ in before]
    assert [s for _, s in after] == pytest.approx([s for _, s in before], abs=0.01)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_whatever_weighs_how_much_the_order_is_the_same_every_time(board, alpha):
    tuning = FindSettings(fusion=FusionSettings(alpha=alpha))
    for text in QUERIES:
        ask = Ask(text, limit=100, threshold=0.0)
        first = find(board, EMBEDDER, ask, tuning).hits
        assert find(board, EMBEDDER, ask, tuning).hits == first


@pytest.mark.parametrize("led", [False, True])
@pytest.mark.parametrize("mode", Mode)
def test_with_threads_beside_the_answers_are_the_same(board, mode, led, monkeypatch):
    """Also where items are looked for by some words only: then each side scores the other's."""
    if led:
        monkeypatch.setattr("pegboard.search.query.LEAD_POSTINGS", 0)
        monkeypatch.setattr("pegboard.store.limits.FIRST", 2)
    with ThreadPoolExecutor(2) as beside:
        for text in QUERIES:
            ask = Ask(text, mode, limit=100, threshold=0.0)
            alone = find(board, EMBEDDER, ask, FindSettings())
            assert find(board, EMBEDDER, ask, FindSettings(), beside=beside).hits == alone.hits


def test_what_only_one_word_leg_puts_forward_is_scored_by_the_other_too():
    """Or its score would depend on how many each leg puts forward."""

    def shelved(number, name, **fields):
        place = ItemId(f"mcptools:{number:02}")
        return make_item(
            name, **({"id": place, "description": "", "semantic_weight": 0.0} | fields)
        )

    shelf = [
        shelved(0, "send", description="letter"),
        shelved(1, "send"),
        shelved(2, "send"),
        shelved(3, "send_send", body="send"),
        shelved(4, "send_send", body="send", tags=("fast",)),
        shelved(5, "邮件", description="send letter", tags=("fast",)),
        shelved(6, "send"),
        shelved(7, "send_send", description="send", body="letter", semantic_weight=1.0),
        shelved(8, "letter"),
    ]
    store = in_memory()
    hang(store, EMBEDDER, *shelf)
    with narrowed(3, (30_000, 2_000)):
        store.items.take_census()
        whole = ranking(store, "send leter ofice isue")
        few = ranking(store, "send leter ofice isue", limit=2, depth=2)
    store.close()
    assert [hit for hit, _ in few] == [hit for hit, _ in whole[:2]]
    assert all(few_score >= score for (_, few_score), (_, score) in zip(few, whole, strict=False))


def test_best_is_the_best_score_of_a_large_board(tmp_path):
    """Of 3,000 items, of which the lead of a question finds few; as brute force finds it."""
    chance = random.Random(11)
    vocabulary = [f"w{number}x" for number in range(300)]
    shares = [1 / (place + 1) for place in range(300)]
    store = SqliteStore(tmp_path / "board.db", create=True)
    store.items.put(
        [
            make_item(
                f"{chance.choice(vocabulary)}_{number}",
                description=" ".join(chance.choices(vocabulary, shares, k=chance.randint(3, 30))),
            )
            for number in range(3_000)
        ],
        None,
    )
    short = 0
    with narrowed(1000, (2_000, 60)):
        store.items.take_census()
        for _ in range(60):
            text = " ".join(chance.sample(vocabulary[:150], chance.randint(2, 7)))
            found = gather(store, HashedEmbedder(16), parse(text), Mode.HYBRID, Filters(), 30)
            short += found.wanted.lead != found.wanted.terms
            scores = store.index.keyword_scores(found.wanted, range(1, 3_100))
            best = found.evidence.best[Leg.BM25]
            assert best == pytest.approx(max(scores.values()))
    assert short > 30
    store.close()
