"""Words: which field a word stands in, how it is written, and which words are the commonest."""

import itertools
import random

import pytest

from making import SOURCE, by_hand, entry_of, filler, make_item, purge, retire, word_hits
from pegboard.model.calls import Caller
from pegboard.model.items import Filters, FirstLook, ItemId, Spellings, WordQuery
from pegboard.search.query import parse
from pegboard.store import limits
from pegboard.store.planning import SPELLED_PER_ITEM, spelled_words
from pegboard.store.sqlite import words
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import FIELD_WEIGHTS, variants

FIELDS = {
    "name": {"name": "zebra"},
    "alias": {"aliases": ("zebra",)},
    "tag": {"tags": ("zebra",)},
    "title": {"title": "zebra"},
    "description": {"description": "zebra"},
    "parameters": {"input_schema": {"properties": {"zebra": {}}}},
    "body": {"body": "zebra"},
}


def by_words(store, text, **rest):
    return word_hits(store, parse(text).terms, **rest)


def names(hits):
    return [hit.id.rpartition(":")[2] for hit in hits]


def bare(where, **fields):
    plain = {"name": "x", "id": ItemId(where), "description": "", "category": ""}
    return make_item(**(plain | fields))


def test_a_word_counts_by_the_field_it_stands_in(store):
    """Name, then aliases, then title, category and tags, then the description, last the body."""
    order = list(FIELDS)
    random.Random(7).shuffle(order)
    store.items.put([bare(where, **FIELDS[where]) for where in order] + filler(20), None)
    found = {hit.id: hit.score for hit in by_words(store, "zebra")}
    assert found.keys() == FIELDS.keys()
    assert found["name"] > found["alias"] > found["tag"] > found["description"] > found["body"]
    assert found["title"] == pytest.approx(found["tag"])
    assert found["description"] >= found["parameters"] > found["body"]


def test_a_title_of_its_own_counts_more_than_a_description(store):
    titled, described = bare("b", title="A zebra"), bare("a", description="A zebra.")
    store.items.put([described, titled, *filler(20)], None)
    assert names(by_words(store, "zebra")) == ["b", "a"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"tags": ("zebra",)}, {"category": "zebra"}),
        ({"tags": ("zebra",)}, {"subcategory": "zebra"}),
        ({"aliases": ("zebra",)}, {"keywords": ("zebra",)}),
        ({"body": "a zebra", "description": "x"}, {"description": "x\n\nReturns:\n zebra"}),
    ],
)
def test_fields_of_one_kind_count_the_same(store, one, other):
    store.items.put([bare("a", **one), bare("b", **other), *filler(20)], None)
    first, second = by_words(store, "zebra")
    assert first.score == pytest.approx(second.score, rel=0.2)


def test_the_weights_fall_in_the_order_that_is_promised():
    weights = [weight for name, weight in FIELD_WEIGHTS.items() if name != "title_weight"]
    assert weights == sorted(weights, reverse=True)
    assert FIELD_WEIGHTS["title_weight"] == FIELD_WEIGHTS["labels_weight"]
    assert [name.removesuffix("_weight") for name in FIELD_WEIGHTS] == [
        *("name", "title", "aliases", "labels", "description", "parameters", "body")
    ]


def test_parameters_are_found_by_name_and_by_description(store):
    schema = {"type": "object", "properties": {"recipientName": {"description": "Who gets mail."}}}
    store.items.put([make_item("wanted", input_schema=schema), *filler(5)], None)
    assert names(by_words(store, "recipient")) == ["wanted"]
    assert names(by_words(store, "gets")) == ["wanted"]


@pytest.mark.parametrize("name", ["createIssue", "create_issue", "CreateIssue", "CREATE_ISSUE"])
@pytest.mark.parametrize(
    "asked", ["create", "issues", "create issue", "createissue", "createIssue", "create_issue"]
)
def test_an_identifier_is_found_by_its_parts_and_as_a_whole(store, name, asked):
    store.items.put([make_item(name, id=ItemId("t:it"), description=""), *filler(5)], None)
    assert names(by_words(store, asked)) == ["it"]


@pytest.mark.parametrize("asked", ["http", "server", "httpserver", "HTTPServer", "Http-Servers"])
def test_an_abbreviation_in_an_identifier_is_a_part_of_its_own(store, asked):
    store.items.put([make_item("HTTPServer", id=ItemId("t:it"), description=""), *filler(5)], None)
    assert names(by_words(store, asked)) == ["it"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Converting images", "convert image"),
        ("converts an image", "converting"),
        ("Café crème", "cafe creme"),
        ("cafe", "CAFÉ"),
        ("Straßenkarte", "strassenkarte"),
        ("STRASSE", "straße"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("full", "ｆｕｌｌ"),
        ("cafe\u0301", "café"),
        ("在仓库中创建一个问题", "创建"),
        ("リポジトリにイシューを作成する", "作成"),
        ("リポジトリにイシューを作成する", "イシュー"),
        ("สร้างปัญหาในที่เก็บ", "ปัญหา"),
        ("создать новую задачу", "Задачу"),
        ("إنشاء مشكلة جديدة", "مشكلة"),
        ("יצירת בעיה חדשה", "בעיה"),
        ("एक समस्या बनाएँ", "समस्या"),
        ("새 이슈 만들기", "이슈"),
        ("GitHub上创建issue", "issue"),
    ],
)
@pytest.mark.parametrize("field", ["name", "description"])
def test_a_word_is_found_however_it_is_written(store, written, asked, field):
    fields = {"name": "x", "description": ""} | {field: written}
    store.items.put([make_item(id=ItemId("t:it"), **fields), *filler(5)], None)
    assert names(by_words(store, asked)) == ["it"]


def test_of_ties_the_first_by_id_are_taken_whatever_the_order_of_putting(store):
    """Also where more are equal than are looked up at once."""
    shelf = [make_item("twin", id=ItemId(f"t:{n:03}")) for n in range(60)]
    random.Random(3).shuffle(shelf)
    store.items.put(shelf, None)
    for limit in (1, 7, 20, 60):
        assert [hit.id for hit in by_words(store, "twin", limit=limit)] == [
            f"t:{n:03}" for n in range(limit)
        ]


@pytest.fixture
def first_few(monkeypatch):
    """Of every ranking only the first few are seen before filters are looked at."""
    monkeypatch.setattr(limits, "FIRST", 5)


def test_a_filter_reaches_beyond_the_first_that_were_taken(store, first_few):
    better = [make_item(f"letter{n}", description="Letter, letter.") for n in range(20)]
    wanted = make_item("other", category="box", description="Perhaps a letter among many things.")
    store.items.put([*better, wanted], None)
    asked = WordQuery(("letter",), ("letter",))
    found = store.index.keyword(asked, Filters(categories=("box",)), 3)
    assert names(found.hits) == ["other"]
    assert not found.whole
    assert len(found.first) <= 5
    [key] = (hit.key for hit in found.hits)
    assert store.index.keyword_scores(asked, [key]) == {key: pytest.approx(found.hits[0].score)}


def test_what_scores_the_same_is_in_the_order_of_ids_whatever_its_words_are_added_up_in(
    store, first_few
):
    """A sum of fractions in another order may be another in its last digit."""
    asked = ("ant", "bee", "cat", "dog", "eel")
    better = [make_item(f"b{n}", description=" ".join(2 * asked)) for n in range(20)]
    rare = [make_item(f"r{n}", description=" ".join(asked[: 1 + n % 4])) for n in range(20)]
    orders = list(itertools.permutations(asked))
    random.Random(7).shuffle(orders)
    alike = [
        bare(f"box:{n:03}", category="box", description=" ".join(words))
        for n, words in enumerate(orders)
    ]
    store.items.put([*better, *rare, *alike[::-1], *filler(500)], None)
    found = store.index.keyword(WordQuery(asked, asked), Filters(categories=("box",)), 200).hits
    assert {round(hit.score, 6) for hit in found} == {round(found[0].score, 6)}
    assert [hit.id for hit in found] == [item.id for item in alike]


def test_whether_all_that_have_a_term_were_seen_is_told(store, first_few):
    asked = WordQuery(("letter",), ("letter",))
    store.items.put([make_item(f"letter{n}", description="Letter.") for n in range(4)], None)
    found = store.index.keyword(asked, Filters(), 10)
    assert found.whole
    assert found.scores == {hit.key: hit.score for hit in found.hits}
    store.items.put([make_item(f"more{n}", description="Letter.") for n in range(4)], None)
    assert not store.index.keyword(asked, Filters(), 10).whole


def test_the_best_are_those_of_the_whole_board_whatever_the_filters(store):
    best = make_item("letter", description="Letter.")
    store.items.put(
        [best, make_item("box", category="box", description="A letter."), *filler(5)], None
    )
    asked = WordQuery(("letter",), ("letter",))
    free = store.index.keyword(asked, Filters(), 5)
    bound = store.index.keyword(asked, Filters(categories=("box",)), 5)
    assert names(bound.hits) == ["box"]
    assert bound.first == free.first
    assert bound.first[0] == entry_of(store, best).key
    assert bound.scores == free.scores


def test_a_lead_finds_items_and_all_terms_score_them(store):
    both, one, none = (
        make_item("both", description="zebra letter"),
        make_item("one", description="zebra"),
        make_item("none", description="letter"),
    )
    store.items.put([both, one, none, *filler(5)], None)
    asked = WordQuery(("letter", "zebra"), ("zebra",))
    found = store.index.keyword(asked, Filters(), 5)
    assert set(names(found.hits)) == {"both", "one"}
    assert not found.whole
    keys = [entry_of(store, item).key for item in (both, one, none)]
    scores = store.index.keyword_scores(asked, keys)
    assert scores[keys[0]] > scores[keys[1]] > 0
    assert scores[keys[2]] > 0


def test_if_asked_an_item_must_have_every_term_of_the_lead(store):
    store.items.put(
        [
            make_item("both", description="zebra letter"),
            make_item("one", description="zebra"),
            make_item("other", description="letter"),
        ],
        None,
    )
    asked = WordQuery(("letter", "zebra"), ("letter", "zebra"), every=True)
    assert names(store.index.keyword(asked, Filters(), 5).hits) == ["both"]
    asked = WordQuery(("letter", "zebra", "x"), ("zebra", "unheard"), every=True)
    assert store.index.keyword(asked, Filters(), 5).first == ()


def test_the_best_score_is_that_of_the_whole_board(store):
    """Of 2,000 items, and as brute force finds it, however much is known before."""
    chance = random.Random(5)
    vocabulary = [f"w{number}x" for number in range(60)]
    shares = [1 / (place + 1) for place in range(60)]
    store.items.put(
        [
            make_item(
                f"{chance.choice(vocabulary)}_{number}",
                description=" ".join(chance.choices(vocabulary, shares, k=chance.randint(3, 40))),
            )
            for number in range(2_000)
        ],
        None,
    )
    keys = range(1, 2_100)
    for terms in (chance.sample(vocabulary, size) for size in (1, 2, 3, 5, 8, 13, 21) * 4):
        scores = store.index.keyword_scores(WordQuery(tuple(terms)), keys).values()
        best = max(scores)
        for least in (0.0, 0.7 * best, chance.choice(sorted(scores)[-20:])):
            assert store.index.best_keyword_score(terms, least) == pytest.approx(best)
        assert store.index.best_keyword_score(terms, best + 1) == best + 1
    assert store.index.best_keyword_score(["unheard"], 0.0) == 0.0


@pytest.fixture(params=["owner", "reader"])
def board_of_telling_words(request, store):
    """300 items, as the owner and as a reader sees them, and the words of their descriptions."""
    chance = random.Random(7)
    vocabulary = [f"w{number}x" for number in range(40)]
    shares = [1 / (place + 1) for place in range(40)]
    store.items.put(
        [
            make_item(
                f"{chance.choice(vocabulary)}_{number}",
                category="box" if number % 5 == 0 else "",
                description=" ".join(chance.choices(vocabulary, shares, k=chance.randint(3, 20))),
            )
            for number in range(300)
        ],
        None,
    )
    seen = store.seen_by(Caller("eve")) if request.param == "reader" else store
    return seen, vocabulary


def test_items_with_a_telling_term_are_ordered_by_all_terms(board_of_telling_words):
    store, vocabulary = board_of_telling_words
    asked = WordQuery((*vocabulary[:3], *vocabulary[30:33]), tuple(vocabulary[30:33]))
    keys = range(1, 301)
    led = store.index.keyword_scores(WordQuery(asked.lead, asked.lead), keys)
    scores = {key: store.index.keyword_scores(asked, keys)[key] for key in led}
    found = store.index.keyword(asked, Filters(), 10)
    best_first = sorted(scores, key=lambda key: -scores[key])
    assert found.by_all
    assert [scores[hit.key] for hit in found.hits] == [scores[key] for key in best_first[:10]]
    assert all(found.scores[hit.key] == pytest.approx(hit.score) for hit in found.hits)
    assert found.first[0] == best_first[0]
    in_box = store.index.keyword(asked, Filters(categories=("box",)), 3)
    boxed = [key for key in best_first if key % 5 == 1]
    assert len(boxed) > 3
    assert [scores[hit.key] for hit in in_box.hits] == [scores[key] for key in boxed[:3]]
    assert in_box.first[0] == found.first[0]


def test_items_that_are_known_to_score_less_need_not_be_looked_at(board_of_telling_words):
    store, vocabulary = board_of_telling_words
    chance = random.Random(3)
    keys = range(1, 301)
    for _ in range(40):
        terms = chance.sample(vocabulary, 6)
        scores = store.index.keyword_scores(WordQuery(tuple(terms)), keys)
        led = store.index.keyword_scores(WordQuery(tuple(terms[:2])), keys)
        least = max((scores[key] for key in led), default=0.0)
        best = store.index.best_keyword_score(terms, least, terms[:2])
        assert best == pytest.approx(max(scores.values()))


@pytest.mark.parametrize("term", ['say "hi"', "AND", "a OR b", "naïve", "日本"])
def test_the_best_score_is_asked_for_with_any_term(store, term):
    store.items.put([make_item("t"), *filler(5)], None)
    assert store.index.best_keyword_score([term, "unheard", "letter"], 1e9) == 1e9
    assert store.index.best_keyword_score([term, "unheard"], 0.0) == 0.0


def common(store):
    return dict(by_hand(store, "SELECT term, items FROM common_terms"))


def census(store):
    return [row[0] for row in by_hand(store, "SELECT items FROM census")]


@pytest.fixture
def small_census(monkeypatch):
    """A board of 20 items is a large one here, and a term of every other item common."""
    monkeypatch.setattr(limits, "COMMON_FROM", 20)
    monkeypatch.setattr(limits, "COMMON", 2)
    monkeypatch.setattr(limits, "LEAST_COMMON", 1)


def shelf(numbers, description="Send a letter.", **fields):
    return [make_item(f"t{n}", description=description, **fields) for n in numbers]


def test_on_a_small_board_no_term_is_common(store, small_census):
    store.items.put(shelf(range(19)), None)
    store.items.take_census()
    assert (census(store), common(store)) == ([19], {})
    assert store.index.frequencies(["letter", "unheard", "t3"]) == {"letter": 0, "t3": 0}


def test_a_board_that_has_grown_large_is_counted(store, small_census):
    store.items.put(shelf(range(20)), None)
    store.items.take_census()
    assert census(store) == [20]
    known = store.index.frequencies(["letter", "unheard", "t3"])
    assert known == {"letter": 20, "t3": 0}
    assert "t3" not in common(store)


def test_it_is_counted_again_when_a_fifth_has_changed(store, small_census):
    store.items.put(shelf(range(20)), None)
    store.items.take_census()
    store.items.put(shelf(range(20, 23)), None)
    store.items.take_census()
    assert (census(store), common(store)["letter"]) == ([20], 20)
    store.items.put(shelf(range(23, 24)), None)
    store.items.take_census()
    assert (census(store), common(store)["letter"]) == ([24], 24)


def test_a_board_that_has_shrunk_is_counted_again_though_it_is_small_now(store, small_census):
    """Else a word of three items would still be taken for that of thousands."""
    store.items.put(shelf(range(40)), None)
    store.items.take_census()
    store.items.put(shelf(range(3), "A zebra.", category="box", source="others"), None)
    store.ledger.remove_source(SOURCE)
    store.items.take_census()
    assert census(store) == [3]
    assert common(store) == {}
    assert store.index.frequencies(["letter", "zebra"]) == {"zebra": 0}


def test_an_emptied_board_is_counted_and_fills_again(store, small_census):
    store.items.put(shelf(range(20)), None)
    store.items.take_census()
    store.ledger.remove_source(SOURCE)
    for _ in range(2):
        store.items.take_census()
        assert common(store) == {}
    store.items.put(shelf(range(20)), None)
    store.items.take_census()
    assert common(store)["letter"] == 20


def test_the_census_leaves_the_text_index_in_one_piece(sqlite_store, small_census, monkeypatch):
    """Every write leaves a segment, and a search goes through them all."""
    monkeypatch.setattr(words, "MERGED_AT_ONCE", 1)  # so that it takes several steps
    for n in range(30):
        sqlite_store.items.put(shelf([n], f"Send letter {n} by word{n} and post."), None)
    wanted = WordQuery(terms=("letter", "word7"), lead=("letter", "word7"))
    before = sqlite_store.index.keyword(wanted, Filters(), 30)
    assert segments(sqlite_store) > 1
    sqlite_store.items.take_census()
    assert segments(sqlite_store) == 1
    assert sqlite_store.index.keyword(wanted, Filters(), 30) == before
    assert sqlite_store.check() == []


def segments(store):
    return store.database.rows("SELECT count(DISTINCT segid) FROM item_terms_idx")[0][0]


def test_words_of_names_aliases_and_labels_are_found_by_their_variants(store):
    store.items.put(
        [
            make_item(
                "createIssue",
                category="tracker",
                subcategory="boards",
                aliases=("ticket",),
                tags=("urgent",),
                description="Nothing but prose.",
            )
        ],
        None,
    )
    for word in ("create", "issue", "tracker", "boards", "ticket", "urgent"):
        for wrong in (word[1:], word[:-1], f"{word}x", word[1] + word[0] + word[2:]):
            assert word in store.index.words_like(variants(wrong), [], 9).near, wrong


def test_words_of_titles_and_descriptions_are_found_by_their_variants(store):
    prose = "Nothing but prose.\n\nArgs:\n    x: wisdom"
    store.items.put([make_item("send", title="Dispatch parcels", description=prose)], None)
    for word in ("dispatch", "parcels", "nothing", "prose"):
        assert word in store.index.words_like(variants(word[1:]), [], 9).near, word
    assert store.index.words_like(variants("wisdo"), [], 9).near == []


def test_a_long_description_does_not_displace_the_words_of_a_name():
    prose = " ".join(f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    item = make_item("send", tags=("urgent",), title="Dispatch parcels", description=prose)
    found = spelled_words(item)
    assert found[:5] == ["send", "mail", "urgent", "dispatch", "parcels"]
    assert len(found) == SPELLED_PER_ITEM


def test_words_are_found_by_their_beginning_as_many_as_asked_for(store):
    store.items.put([make_item("convert"), make_item("conversation"), make_item("other")], None)
    found = store.index.words_like([], ["conv", "oth", "zzz"], 9)
    assert found.longer == {"conv": ["conversation", "convert"], "oth": ["other"], "zzz": []}
    assert store.index.words_like([], ["conv"], 1).longer == {"conv": ["conversation"]}
    assert store.index.words_like([], [], 9) == Spellings([], {})


def test_the_first_look_knows_terms_and_names(store):
    names = ("send_letter", "sendLetter", "send letter now")
    store.items.put([make_item(name, description="By post.") for name in names], None)
    found = store.index.first_look(["letter", "unheard"], "sendletter", Filters(), 9)
    assert found.frequencies == {"letter": 0}
    assert sorted(hit.id.rpartition(":")[2] for hit in found.named) == ["sendLetter", "send_letter"]
    assert [hit.rank for hit in found.named] == [1, 2]
    assert len(store.index.first_look(["letter"], "sendletter", Filters(), 1).named) == 1
    assert store.index.first_look(["letter"], "", Filters(), 9).named == []
    assert store.index.first_look([], "post", Filters(), 9) == FirstLook({}, [])
    nowhere = Filters(namespaces=("nowhere",))
    bound = store.index.first_look(["letter", "now"], "sendletter", nowhere, 9)
    assert bound == FirstLook({"letter": 0, "now": 0}, [])


def test_a_word_that_was_lost_with_its_items_leads_to_none(store):
    item = make_item("quagga")
    store.items.put([item, make_item("zebra")], None)
    retire(store)
    purge(store)
    assert store.index.frequencies(["quagga"]) == {}
    assert word_hits(store, ["quagga"]) == []


@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_same_items_put_in_any_order_and_portions_score_the_same(tmp_path, size):
    shelf = [
        make_item(f"tool{n}", description="letter " * (n % 5) + "stamp " * (n % 3))
        for n in range(20)
    ]
    found = []
    for seed in range(3):
        random.Random(seed).shuffle(shelf)
        store = SqliteStore(tmp_path / f"{seed}.db", create=True)
        for start in range(0, len(shelf), size):
            store.items.put(shelf[start : start + size], None)
        hits = by_words(store, "letter stamps", limit=20)
        found.append([(hit.id, round(hit.score, 9)) for hit in hits])
        store.close()
    assert all(one == other for one, other in itertools.pairwise(found))
