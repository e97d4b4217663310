"""Search as functions in SQL: what they find, in which order, for whom, and by which index."""

import json
import random

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nearest_parts import crowd, gauss, near
from psycopg import errors

from making import OTHER_MODEL, make_item, make_vector, retire
from pegboard.model.items import (
    Fingerprint,
    ItemId,
    Kind,
    Leg,
    Model,
    ModelSpec,
    ToolType,
    Visibility,
)
from pegboard.search.fusion import Candidate, Evidence, FusionSettings, Method, fuse

relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
DIMENSION = 16
MODEL = Fingerprint("test", "gauss", DIMENSION, 1)
KNOBS = (
    "query_text text, query_embedding vector, match_count integer DEFAULT 20, "
    "full_text_weight double precision DEFAULT 1.0, semantic_weight double precision DEFAULT 1.0,"
    " rrf_k integer DEFAULT 60, "
)
SIGNATURES = {
    "search_tools_hybrid": (
        f"{KNOBS}filter_category text DEFAULT NULL::text, filter_tool_type text DEFAULT NULL::text",
        "tool_id uuid, name text, description text, tool_type text, category text,"
        " score double precision, match_type text",
    ),
    "search_directives_hybrid": (
        f"{KNOBS}filter_category text DEFAULT NULL::text",
        "directive_id uuid, name text, description text, category text,"
        " score double precision, match_type text",
    ),
    "search_knowledge_hybrid": (
        f"{KNOBS}filter_entry_type text DEFAULT NULL::text",
        "knowledge_id uuid, title text, entry_type text, score double precision, match_type text",
    ),
    "search_all_hybrid": (
        "query_text text, query_embedding vector, match_count integer DEFAULT 20,"
        " filter_item_type text DEFAULT NULL::text",
        "item_id uuid, item_type text, name text, description text, category text,"
        " score double precision",
    ),
}


@pytest.fixture
def sql(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


def said(vector):
    """As a client writes it."""
    return None if vector is None else json.dumps(memoryview(vector).cast("f").tolist())


def search(sql, text, vector=None, function="search_tools_hybrid", **options):
    """(name, score, match type) of what the function finds; the type is not told of all kinds."""
    options = {"query_text": text, "query_embedding": said(vector)} | options
    given = ", ".join(f"{name} => %({name})s" for name in options)
    given = given.replace("%(query_embedding)s", "%(query_embedding)s::vector")
    cursor = sql.execute(f"SELECT * FROM {function}({given})", options)
    at = {column.name: n for n, column in enumerate(cursor.description)}
    name, kind = at.get("name", at.get("title")), at.get("match_type")
    return [(row[name], row[at["score"]], row[kind] if kind else None) for row in cursor.fetchall()]


def names(hits):
    return [name for name, *_ in hits]


def hang(store, vectors, target=MODEL, **fields):
    """Items by these names, each with its vector."""
    items = [make_item(name, **fields) for name in vectors]
    store.items.put(items, target)
    tasks = store.tasks.claim(target, "test", len(items), 60.0)
    named = store.index.entries([task.item_key for task in tasks])
    done = [(task, vectors[named[task.item_key].item.name]) for task in tasks]
    assert store.tasks.finish(target, done) == len(items)


def put(store, *found, **fields):
    store.items.put([make_item(name, description=text, **fields) for name, text in found], None)


# What they take and give.


@pytest.mark.parametrize("function", SIGNATURES)
def test_parameters_defaults_and_columns_are_those_of_old(sql, function):
    [(takes, gives)] = sql.execute(
        "SELECT pg_get_function_arguments(oid), pg_get_function_result(oid) FROM pg_proc"
        " WHERE proname = %s",
        [function],
    ).fetchall()
    assert (takes, gives) == (SIGNATURES[function][0], f"TABLE({SIGNATURES[function][1]})")


def test_every_function_looks_for_names_in_its_own_schema_only(sql):
    unpinned = sql.execute(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
        " WHERE p.pronamespace = 'public'::regnamespace AND l.lanname IN ('sql', 'plpgsql')"
        " AND p.prosqlbody IS NULL AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS said"
        "   WHERE said LIKE 'search_path=%' AND said NOT LIKE '%$user%')"
    ).fetchall()
    assert unpinned == []


def test_a_hit_says_by_which_leg_it_was_found(postgres_store, sql):
    hang(postgres_store, {"send_mail": gauss("here", DIMENSION)}, description="Send a letter.")
    hang(postgres_store, {"fax": near(gauss("here", DIMENSION), 1)}, description="Old times.")
    put(postgres_store, ("letterbox", "Where a letter waits."))
    hits = search(sql, "letter", gauss("here", DIMENSION))
    assert [(name, kind) for name, _, kind in hits] == [
        ("send_mail", "both"),
        ("letterbox", "keyword"),
        ("fax", "semantic"),
    ]
    assert [score for _, score, _ in hits] == [1 / 61 + 1 / 62, 1 / 61, 1 / 62]


@pytest.mark.parametrize("text", [None, "", "   ", "the of and", "-letter", '"', "!", ":*"])
def test_without_words_meaning_decides_alone(postgres_store, sql, text):
    hang(postgres_store, vectors := crowd(5, DIMENSION))
    hits = search(sql, text, vectors["t3"])
    assert hits[0] == ("t3", 1 / 61, "semantic")
    assert len(hits) == 5
    assert search(sql, text) == []


def test_without_a_vector_words_decide_alone(postgres_store, sql):
    hang(postgres_store, {"send": gauss(1, DIMENSION), "other": gauss(2, DIMENSION)})
    assert search(sql, "send") == [("send", 1 / 61, "keyword")]


def test_a_board_without_vectors_is_searched_by_words(postgres_store, sql):
    put(postgres_store, ("send", "Send a letter."))
    assert search(sql, "letter", gauss(1, DIMENSION)) == [("send", 1 / 61, "keyword")]


def test_a_vector_of_another_length_is_an_error_that_says_so(postgres_store, sql):
    hang(postgres_store, {"send": gauss(1, DIMENSION)})
    with pytest.raises(errors.InvalidParameterValue) as wrong:
        search(sql, "send", make_vector(1.0, 0.0, 0.0))
    assert "3 dimensions, the vectors of this board have 16" in str(wrong.value)
    assert "test gauss" in wrong.value.diag.message_hint


@pytest.mark.parametrize(
    "wrong",
    [
        {"rrf_k": -1},
        {"full_text_weight": -0.5},
        {"semantic_weight": -2},
        {"semantic_weight": float("nan")},
        {"full_text_weight": float("inf")},
    ],
)
def test_weights_out_of_bounds_are_refused(postgres_store, sql, wrong):
    put(postgres_store, ("send", "Send a letter."))
    with pytest.raises(errors.InvalidParameterValue):
        search(sql, "send", **wrong)


@pytest.mark.parametrize(
    ("count", "found"), [(1, 1), (2, 2), (0, 1), (-7, 1), (None, 20), (10**6, 30)]
)
def test_the_number_of_hits_is_kept_within_bounds(postgres_store, sql, count, found):
    put(postgres_store, *((f"send{n}", "Send a letter.") for n in range(30)))
    assert len(search(sql, "letter", match_count=count)) == found
    assert len(search(sql, "letter", function="search_all_hybrid", match_count=count)) == found


def test_nulls_for_weights_are_the_defaults(postgres_store, sql):
    hang(postgres_store, vectors := {"send": gauss(1, DIMENSION)})
    given = dict.fromkeys(["match_count", "full_text_weight", "semantic_weight", "rrf_k"])
    assert search(sql, "send", vectors["send"], **given) == search(sql, "send", vectors["send"])


# Words.


def test_a_question_finds_a_tool_that_has_only_some_of_its_words(postgres_store, sql):
    put(
        postgres_store,
        ("create_issue", "Open an issue in a repository."),
        ("send_mail", "Send a letter to somebody."),
        ("list_branches", "The branches of a repository."),
    )
    hits = search(sql, "How do I report a bug as an issue in our repository?")
    assert names(hits) == ["create_issue", "list_branches"]


def test_what_has_every_word_comes_before_what_has_some(postgres_store, sql):
    put(
        postgres_store,
        ("letter_letter", "letter letter letter"),
        ("post", f"Long before anything else {'was said and done ' * 20} send a letter."),
    )
    assert names(search(sql, "send letter")) == ["post", "letter_letter"]


def test_a_rare_word_tells_more_than_a_common_one(postgres_store, sql):
    put(postgres_store, *((f"tool{n}", "Get a user.") for n in range(30)), ("x", "Get an invoice."))
    assert names(search(sql, "user invoice", match_count=2)) == ["x", "tool0"]


def test_a_name_is_found_by_the_words_it_is_made_of(postgres_store, sql):
    put(postgres_store, ("createIssue", "-"), ("send_mail", "-"), ("GitHub", "-"))
    for text in ("issue", "createIssue"):
        assert names(search(sql, text)) == ["createIssue"]
    assert names(search(sql, "mail")) == ["send_mail"]
    assert names(search(sql, "github")) == ["GitHub"]


def test_words_that_must_not_occur_do_not(postgres_store, sql):
    put(postgres_store, ("a", "Send a letter."), ("b", "Send a draft letter."), ("c", "Send mail."))
    assert names(search(sql, "letter mail -draft")) == []
    assert names(search(sql, "letter -draft")) == ["a"]


def test_a_phrase_comes_first(postgres_store, sql):
    put(postgres_store, ("a", "A letter to send."), ("b", "Send letter after letter."))
    assert names(search(sql, '"send letter"')) == ["b", "a"]


@relaxed
@given(st.text(max_size=60) | st.text("\"'\\-|&!:*()<> ab@/.", max_size=40))
@example("it's a \\ 'quoted' \\' thing")
@example("a/b\\c http://x.y/z'w?q=1|2 user@mail.org real-time")
@example("word " * 3000)
@example("..)")  # a word in a query, but none in a text
def test_no_question_whatever_upsets_them(postgres_store, sql, text):
    if not postgres_store.items.page(0, 1):
        put(postgres_store, ("send", "It's a 'quoted' \\ letter, http://x.y/z'w?q=1|2 real-time."))
    for function in ("search_tools_hybrid", "search_all_hybrid"):
        assert len(search(sql, text.replace("\0", ""), function=function)) <= 1


# Only what may be found.


def test_what_is_retired_or_not_public_is_not_found(postgres_store, sql):
    vectors = {name: gauss("here", DIMENSION) for name in ("gone", "private", "unlisted", "seen")}
    for name, visibility in (
        ("gone", Visibility.PUBLIC),
        ("private", Visibility.PRIVATE),
        ("unlisted", Visibility.UNLISTED),
        ("seen", Visibility.PUBLIC),
    ):
        source = "old" if name == "gone" else "tools"
        some = {name: vectors[name]}
        hang(postgres_store, some, visibility=visibility, source=source, body="letter")
    retire(postgres_store, source="old")
    assert names(search(sql, "letter", gauss("here", DIMENSION))) == ["seen"]


def test_only_vectors_of_the_active_model_are_searched(postgres_store, sql):
    here = make_vector(1.0, 0.0)
    postgres_store.models.want(Model(OTHER_MODEL, ModelSpec("test")), chosen=True)
    hang(postgres_store, {"send": here}, OTHER_MODEL)
    postgres_store.models.want(Model(MODEL, ModelSpec("test")), chosen=True)
    hang(postgres_store, {"late": gauss(1, DIMENSION)})  # while it is being built
    assert names(search(sql, None, here)) == ["send"]
    sql.execute("UPDATE model_choice SET active = wanted, wanted = NULL")
    assert names(search(sql, None, gauss(1, DIMENSION))) == ["late"]
    with pytest.raises(errors.InvalidParameterValue):
        search(sql, None, here)


def test_a_vector_of_a_text_that_changed_is_not_searched(postgres_store, sql):
    hang(postgres_store, vectors := {"send": gauss(1, DIMENSION)})
    sql.execute("UPDATE items SET source_hash = 'another'")
    assert search(sql, None, vectors["send"]) == []


def become(sql, role, *namespaces):
    claims = {"sub": "ben", "app_metadata": {"namespaces": namespaces}}
    sql.execute("SELECT set_config('request.jwt.claims', %s, false)", [json.dumps(claims)])
    sql.execute(f"SET ROLE {role}")


@pytest.mark.parametrize(
    ("role", "member", "seen"),
    [
        ("anon", [], {"public"}),
        ("authenticated", [], {"public"}),
        ("authenticated", ["team"], {"public", "team"}),
        ("service_role", [], {"public", "team", "others"}),
    ],
)
def test_callers_find_what_they_may_see_and_rank_as_if_there_were_no_more(
    postgres_store, sql, role, member, seen
):
    for place in ("others", "public", "team"):
        one = {f"in_{place}": near(gauss("here", DIMENSION), place == "public")}
        hang(postgres_store, one, namespace=place, description="Send a letter here.")
    become(sql, role, *member)
    for text, vector in (("letter here", None), (None, gauss("here", DIMENSION))):
        hits = search(sql, text, vector)
        assert set(names(hits)) <= {f"in_{place}" for place in seen}
        assert [score for _, score, _ in hits] == [1 / (61 + n) for n in range(len(hits))]
    hits = search(sql, "letter here", gauss("here", DIMENSION), "search_all_hybrid")
    assert set(names(hits)) == {f"in_{place}" for place in seen}


def test_the_leg_that_looks_with_more_rights_gives_no_more_than_the_caller_may_see(
    postgres_store, sql
):
    put(postgres_store, ("hidden", "letter"), visibility=Visibility.PRIVATE)
    put(postgres_store, ("away", "letter"), namespace="team")
    become(sql, "anon")
    assert sql.execute("SELECT open_matching_keys('tool', 'letter', 10)").fetchall() == [([],)]
    assert sql.execute("SELECT matching_keys('tool', 'letter', 10)").fetchall() == [([],)]


def test_a_fresh_session_may_ask_without_a_vector(postgres_store, postgres_url):
    """Settings of pgvector are given before anything has loaded it."""
    put(postgres_store, ("send", "Send a letter."))
    with psycopg.connect(postgres_url, autocommit=True) as fresh:
        become(fresh, "anon")
        assert names(search(fresh, "letter")) == ["send"]


# Kinds and filters.


@pytest.fixture
def shelf(postgres_store):
    for kind in Kind:
        put(
            postgres_store,
            *((f"{kind}{n}", "Send a letter.") for n in range(4)),
            kind=kind,
            category=f"{kind}s",
            subcategory="pattern",
            tool_type=ToolType.BASH if kind is Kind.TOOL else None,
        )


def test_each_function_finds_its_own_kind(shelf, sql):
    for function, kind in (
        ("search_tools_hybrid", "tool"),
        ("search_directives_hybrid", "directive"),
        ("search_knowledge_hybrid", "knowledge"),
    ):
        assert names(search(sql, "letter", function=function)) == [f"{kind}{n}" for n in range(4)]


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_with_a_filter_the_whole_count_goes_to_that_kind(shelf, sql, kind, count):
    asked = {"function": "search_all_hybrid", "filter_item_type": kind.value, "match_count": count}
    assert names(search(sql, "letter", **asked)) == [f"{kind}{n}" for n in range(count)]


def test_without_a_filter_the_best_of_all_kinds_remain(shelf, sql):
    hits = search(sql, "letter", function="search_all_hybrid", match_count=5)
    assert names(hits) == ["directive0", "knowledge0", "skill0", "tool0", "directive1"]
    assert [score for _, score, _ in hits] == [1 / 61] * 4 + [1 / 62]
    assert len(search(sql, "letter", function="search_all_hybrid")) == 16
    unknown = {"function": "search_all_hybrid", "filter_item_type": "script"}
    assert search(sql, "letter", **unknown) == []


@pytest.mark.parametrize(
    ("function", "option", "value"),
    [
        ("search_tools_hybrid", "filter_category", "tools"),
        ("search_tools_hybrid", "filter_tool_type", "bash"),
        ("search_directives_hybrid", "filter_category", "directives"),
        ("search_knowledge_hybrid", "filter_entry_type", "pattern"),
    ],
)
def test_filters_let_through_what_has_exactly_this_value(shelf, sql, function, option, value):
    assert len(search(sql, "letter", function=function, **{option: value})) == 4
    assert search(sql, "letter", function=function, **{option: "another"}) == []


# With an index.


@pytest.fixture
def indexed(postgres_store, sql):
    """3000 near one place, and 40 elsewhere of which 20 are of a rare type; searched by HNSW."""
    hang(postgres_store, {"first": gauss("here", DIMENSION)}, category="here", body="letter")
    for kind in ("docker", "api"):
        far = {f"{kind}{n}": gauss((kind, n), DIMENSION) for n in range(20)}
        hang(postgres_store, far, category="far", tool_type=ToolType(kind))
    sql.execute(
        "INSERT INTO items (id, name, category, source_hash)"
        " SELECT 'near:' || n, 'near' || n, 'here', 'same' FROM generate_series(1, 3000) AS n"
    )
    sql.execute(
        "INSERT INTO item_texts (kind, item_key, namespace, length, name)"
        " SELECT kind, key, namespace, 1, name FROM items WHERE source_hash = 'same'"
    )
    keys = sql.execute("SELECT key FROM items WHERE source_hash = 'same'").fetchall()
    with sql.cursor().copy(
        "COPY vectors (kind, item_key, fingerprint, namespace, source_hash, embedding) FROM STDIN"
    ) as rows:
        for (key,) in keys:
            close = said(near(gauss("here", DIMENSION), key, 0.2))
            rows.write_row(("tool", key, 1, "public", "same", close))
    made = postgres_store.nearest.build(MODEL)
    assert made == ["tool_vectors_hnsw_1"]
    sql.execute("ANALYZE")


def plans(sql, statement, params=(), role="none"):
    """What each statement inside did, as its plan tells it."""
    told = []
    sql.add_notice_handler(lambda notice: told.append(notice.message_primary))
    for line in (
        "LOAD 'auto_explain'",
        "SET auto_explain.log_min_duration = 0",
        "SET auto_explain.log_nested_statements = on",
        "SET client_min_messages = log",
        f"SET ROLE {role}",
    ):
        sql.execute(line)
    sql.execute(statement, params)
    sql.execute("RESET ROLE")
    return "\n".join(told)


@pytest.mark.parametrize("role", ["none", "anon", "authenticated", "service_role"])
def test_whoever_searches_uses_both_indexes(indexed, sql, role):
    asked = ["letter", said(gauss("here", DIMENSION))]
    text = plans(sql, "SELECT * FROM search_tools_hybrid(%s, %s::vector, 5)", asked, role)
    assert "Index Scan using tool_vectors_hnsw_1" in text
    assert "Bitmap Index Scan on tool_texts_fts_idx" in text
    assert "Seq Scan on tool_texts" not in text


def test_a_filter_that_leaves_few_is_exact(indexed, sql):
    asked = [said(gauss("here", DIMENSION))]
    statement = "SELECT nearest_keys('tool', %s::vector, 30, 'far', NULL, 'docker')"
    assert "hnsw" not in plans(sql, statement, asked)
    assert len(sql.execute(statement, asked).fetchall()[0][0]) == 20


@pytest.mark.parametrize(
    ("options", "count"), [({"filter_tool_type": "docker"}, 20), ({"filter_category": "far"}, 40)]
)
def test_a_filter_that_only_leaves_what_is_far_still_fills_the_count(indexed, sql, options, count):
    hits = search(sql, None, gauss("here", DIMENSION), match_count=50, **options)
    assert len(hits) == count


def test_what_is_hidden_does_not_crowd_out_the_others(indexed, sql):
    sql.execute("UPDATE items SET visibility = 'private' WHERE category = 'here'")
    assert len(search(sql, None, gauss("here", DIMENSION), match_count=50)) == 40


# One fusion.

weights = st.just(0.0) | st.floats(0.001, 10)
WORDS = ["alpha", "beta", "gamma", "delta"]


@pytest.fixture
def mixed(postgres_store):
    """60 items with few words and few places among them, so that many are equal in a leg; some
    are known to one leg only."""
    rng = random.Random(5)
    for n in range(60):
        text = " ".join(rng.choices(WORDS, k=rng.randint(0, 3))) or "Nothing."
        item = {f"t{n:02}": gauss(rng.randrange(12), DIMENSION)}
        if n % 5:
            hang(postgres_store, item, description=text)
        else:
            put(postgres_store, (f"t{n:02}", text))


def ranks(sql, text, vector, depth):
    hits = search(sql, text, vector, match_count=depth)
    return {name: place for place, name in enumerate(names(hits), start=1)}


@relaxed
@given(
    text=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    place=st.integers(0, 14),
    count=st.integers(1, 30),
    k=st.integers(0, 200),
    weights=st.tuples(weights, weights).filter(any) | st.just((1.0, 1.0)),
)
def test_the_fusion_is_that_of_the_fusion_module(mixed, sql, text, place, count, k, weights):
    """A score here is the sum of weight / (k + rank). The module has the same sum as a share of
    what first place in both legs would give: times (k + 1), divided by the sum of the weights.
    """
    vector = gauss(place, DIMENSION)
    by_words, by_meaning = (
        ranks(sql, text, None, 2 * count),
        ranks(sql, None, vector, 2 * count),
    )
    found = []
    for name in by_words.keys() | by_meaning.keys():
        places = {Leg.BM25: by_words.get(name), Leg.VECTOR: by_meaning.get(name)}
        known = {leg: rank for leg, rank in places.items() if rank}
        found.append(Candidate(int(name[1:]), ItemId(name), dict.fromkeys(known, 1.0), known))
    evidence = Evidence(tuple(found), frozenset({Leg.BM25, Leg.VECTOR}), {}, {})
    tuning = FusionSettings(Method.RRF, k=k, bm25_weight=weights[0], vector_weight=weights[1])
    wanted = [(each.candidate.id, each.fused) for each in fuse(evidence, tuning)]

    hits = search(
        sql, text, vector, match_count=count, rrf_k=k,
        full_text_weight=weights[0], semantic_weight=weights[1],
    )  # fmt: skip
    scale = (k + 1) / sum(weights)
    got = [(name, score * scale) for name, score, _ in hits]
    assert [score for _, score in got] == pytest.approx([s for _, s in wanted[:count]], rel=1e-9)
    assert settled(got, count) == settled(wanted, count)
    fused = dict(wanted)
    assert all(score == pytest.approx(fused[name], rel=1e-9) for name, score in got)


def settled(scored, count):
    """Those that are in the first `count` whatever is done to the last digits, best first.

    1/2 + 1/6 and 1/3 + 1/3 are one number, and in floating point they need not be."""
    rounded = sorted((-round(score, 9), name) for name, score in scored)
    last = rounded[min(count, len(rounded)) - 1][0] if rounded else 0
    return [name for score, name in rounded if score < last]


def test_equal_hits_are_ordered_by_id(postgres_store, sql):
    same = {f"t{n:02}": gauss("same", DIMENSION) for n in random.Random(1).sample(range(40), 40)}
    hang(postgres_store, same, description="Send a letter.")
    for text, vector in (("letter", None), (None, gauss("same", DIMENSION))):
        assert names(search(sql, text, vector, match_count=8)) == [f"t{n:02}" for n in range(8)]
