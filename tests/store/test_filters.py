"""Which items a search may see: the same in every leg, decided in the database before ranking."""

import apsw
import pytest

from making import entry_of, hang, make_item, retire, word_hits
from pegboard.model.calls import OnChange
from pegboard.model.items import Filters, ItemId, ToolType, Visibility
from pegboard.store.planning import content_hash
from pegboard.text import embedding_text, name_key

SHELF = [
    make_item("a", author="Mia", source_protocol="mcp", target_personas=("clerk", "nurse")),
    make_item("b", author="Ben", routing_domain="health", skills=("triage", "letters")),
    make_item("c", author="Mia", semantic_namespace="ward/7", skills=("letters",)),
    make_item("d", sensitivity_tier="high", target_personas=("nurse",), namespace="team"),
]
SHELF = [
    item._replace(id=ItemId(f"mcptools:mail:{item.name}"), name="letter", description="Letters.")
    for item in SHELF
]
FILTERED = [
    (Filters(), "abcd"),
    (Filters(authors=("Mia",)), "ac"),
    (Filters(authors=("Ben", "Mia", "Zoe")), "abc"),
    (Filters(authors=("",)), "d"),
    (Filters(protocols=("mcp",)), "a"),
    (Filters(domains=("health",)), "b"),
    (Filters(semantic_namespaces=("ward/7", "ward/8")), "c"),
    (Filters(sensitivity_tiers=("high",)), "d"),
    (Filters(personas=("nurse",)), "ad"),
    (Filters(personas=("clerk", "doctor")), "a"),
    (Filters(skills=("letters",)), "bc"),
    (Filters(skills=("triage",)), "b"),
    (Filters(authors=("Mia",), skills=("letters",)), "c"),
    (Filters(authors=("Ben",), personas=("nurse",)), ""),
    (Filters(personas=("nurse",), namespaces=("team",)), "d"),
    (Filters(authors=("mia",)), ""),
    (Filters(authors=("Mi",)), ""),
    (Filters(semantic_namespaces=("ward",)), ""),
    (Filters(skills=("letter",)), ""),
    (Filters(skills=("",)), ""),
    (Filters(personas=('["nurse"]',)), ""),
    (Filters(active=None), "abcd"),
    (Filters(active=False), ""),
]
WAYS = ("words", "meaning", "name", "keys")


def found(store, embedder, way, filters, limit=10):
    """The last part of each id that one way of asking leaves."""
    if way == "keys":
        entries = store.items.page(0, 100)
        left = store.index.among([entry.key for entry in entries], filters)
        return sorted(e.item.id.rpartition(":")[2] for e in entries if e.key in left)
    ask = {
        "words": lambda: word_hits(store, ["letter"], filters, limit),
        "meaning": lambda: store.index.vector(
            embedder.embed_query("letter"), embedder.fingerprint, filters, limit
        ),
        "name": lambda: store.index.first_look([], name_key("letter"), filters, limit).named,
    }
    return sorted(hit.id.rpartition(":")[2] for hit in ask[way]())


def everywhere(store, embedder, filters):
    """What every way leaves; they must agree."""
    [left] = {"".join(found(store, embedder, way, filters)) for way in WAYS}
    return left


@pytest.mark.parametrize(("filters", "expected"), FILTERED)
def test_a_filter_leaves_the_same_items_whichever_way_they_are_found(
    store, embedder, filters, expected
):
    hang(store, embedder, *SHELF)
    assert everywhere(store, embedder, filters) == expected


@pytest.mark.parametrize("way", WAYS[:3])
@pytest.mark.parametrize(
    ("filters", "field"),
    [
        (Filters(authors=("Mia",)), {"author": "Mia"}),
        (Filters(skills=("triage",)), {"skills": ("triage",)}),
        (Filters(personas=("nurse",)), {"target_personas": ("nurse",)}),
    ],
)
def test_a_filter_applies_before_the_limit(store, embedder, way, filters, field):
    others = [make_item("letter", id=ItemId(f"t:a{n}")) for n in range(12)]
    wanted = make_item("letter", id=ItemId("t:wanted"), description="Among other things.", **field)
    hang(store, embedder, *others, wanted)
    assert found(store, embedder, way, filters, limit=1) == ["wanted"]


def test_what_has_changed_is_filtered_by_what_it_is_now(store, embedder):
    item = SHELF[2]
    hang(store, embedder, item)
    hang(store, embedder, item._replace(author="Zoe", skills=()))
    assert everywhere(store, embedder, Filters(authors=("Zoe",))) == "c"
    assert everywhere(store, embedder, Filters(authors=("Mia",))) == ""
    assert everywhere(store, embedder, Filters(skills=("letters",))) == ""


def test_what_is_gone_is_found_only_by_those_who_ask_for_it(store, embedder):
    hang(store, embedder, *SHELF)
    retire(store, *SHELF[:2])
    assert everywhere(store, embedder, Filters()) == "ab"
    assert everywhere(store, embedder, Filters(active=True)) == "ab"
    assert everywhere(store, embedder, Filters(active=False)) == "cd"
    assert everywhere(store, embedder, Filters(active=None)) == "abcd"
    assert everywhere(store, embedder, Filters(active=None, authors=("Mia",))) == "ac"


def test_what_is_held_back_is_found_only_by_those_who_ask_for_it(store, embedder):
    item = make_item("letter", id=ItemId("t:held"))
    store.items.put([item], embedder.fingerprint, on_change=OnChange.HOLD)
    changed = item._replace(input_schema={"type": "object"})
    store.items.put([changed], embedder.fingerprint, on_change=OnChange.HOLD)
    assert found(store, embedder, "words", Filters()) == []
    assert found(store, embedder, "words", Filters(active=False)) == ["held"]


@pytest.mark.parametrize("active", [True, False, None])
def test_whatever_is_asked_for_what_is_not_public_is_never_found(store, embedder, active):
    hidden = [each._replace(visibility=Visibility.PRIVATE) for each in SHELF[:2]]
    hang(store, embedder, *hidden, SHELF[2]._replace(visibility=Visibility.UNLISTED))
    retire(store, hidden[0])
    assert everywhere(store, embedder, Filters(active=active)) == ""
    assert everywhere(store, embedder, Filters(active=active, authors=("Mia", "Ben"))) == ""


def test_what_is_not_active_cannot_run_now(store, embedder):
    hang(store, embedder, *(item._replace(tool_type=ToolType.MCP) for item in SHELF))
    retire(store, *SHELF[:2])
    for active, left in ((True, "ab"), (False, ""), (None, "ab")):
        assert everywhere(store, embedder, Filters(active=active, live=("tools",))) == left
        assert everywhere(store, embedder, Filters(active=active, live=())) == ""


def test_what_needs_no_server_can_run_now(store, embedder):
    types = (ToolType.PYTHON, ToolType.MCP, ToolType.API, None)
    shelf = zip(SHELF, types, strict=True)
    hang(store, embedder, *(item._replace(tool_type=each) for item, each in shelf))
    assert everywhere(store, embedder, Filters(live=("elsewhere",))) == "ac"
    assert everywhere(store, embedder, Filters(live=("tools",))) == "abc"


HOSTILE = {
    "quote": "'",
    "quotes": "\"'`",
    "SQL": "'; DROP TABLE items; --",
    "always true": "' OR '1'='1",
    "JSON": '["Mia"]',
    "a JSON string": '"Mia"',
    "an array": '{"Mia"}',
    "null": "null",
    "a parameter": ":authors",
    "another parameter": "%(authors)s %s $1",
    "wildcards": "M%_*?",
    "backslash": "\\",
    "emoji": "👩‍⚕️",
    "spaces": " Mia ",
    "accents apart": "Mi\u0301a",
    "as long as may be": "Mia " * 50,
}
BEYOND = {
    "NUL": "Mia\0",
    "NUL first": "\0Mia",
    "half a pair": "Mia\ud800",
    "escaped": "\udcff",
    "very long": "Mia " * 250_000,
}
"""What no item can have: the gate lets nothing like it in."""
TEXTS = ("authors", "protocols", "domains", "semantic_namespaces", "sensitivity_tiers")
LISTS = ("personas", "skills", "tags")
OLDER = ("kinds", "sources", "categories", "tool_types", "namespaces")


@pytest.mark.parametrize("value", [*HOSTILE.values(), *BEYOND.values()], ids=[*HOSTILE, *BEYOND])
def test_a_hostile_value_is_data_that_no_item_has(store, embedder, value):
    hang(store, embedder, *SHELF)
    for name in (*TEXTS, *LISTS, *OLDER):
        assert everywhere(store, embedder, Filters(**{name: (value,)})) == ""
    assert everywhere(store, embedder, Filters(live=(value,))) == ""
    assert everywhere(store, embedder, Filters(authors=(value, "Ben"))) == "b"
    assert everywhere(store, embedder, Filters(skills=(value, "triage"))) == "b"
    assert everywhere(store, embedder, Filters()) == "abcd"


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_an_item_that_has_such_a_value_is_found_by_it(store, embedder, value):
    odd = SHELF[0]._replace(author=value, skills=("x", value), target_personas=())
    hang(store, embedder, odd, *SHELF[1:])
    assert everywhere(store, embedder, Filters(authors=(value,))) == "a"
    assert everywhere(store, embedder, Filters(skills=(value,))) == "a"


def test_ten_thousand_values_are_any_of_them(store, embedder):
    hang(store, embedder, *SHELF)
    many = tuple(f"nobody {n}" for n in range(10_000))
    every = dict.fromkeys((*TEXTS, *LISTS), many)
    assert everywhere(store, embedder, Filters(**every)) == ""
    assert everywhere(store, embedder, Filters(authors=(*many, "Mia"))) == "ac"
    assert everywhere(store, embedder, Filters(skills=("triage", *many))) == "b"


def test_skills_leave_the_hash_and_the_text_of_items_without_any_as_they_were():
    """As the release before skills wrote them; else every board would be embedded again."""
    plain = make_item("send", tags=("post",), target_personas=("writer",), semantic_weight=2.0)
    hashed = "8d76d7715aa14f5e6f592fb9b82172b13ab339638729c188b9d869037eae6dc0"
    assert content_hash(plain) == hashed
    assert embedding_text(plain) == "send\nWhat send does. post. writer\nWhat send does"
    assigned = plain._replace(skills=("letters",))
    assert content_hash(assigned) != hashed
    assert embedding_text(assigned) == embedding_text(plain)


def test_assigning_a_skill_keeps_the_vector(store, embedder):
    item = make_item()
    hang(store, embedder, item)
    before = entry_of(store, item)
    report = store.items.put([item._replace(skills=("letters",))], embedder.fingerprint)
    after = entry_of(store, item)
    assert report.changed == 1
    assert after.item.skills == ("letters",)
    assert after.embedding == before.embedding
    assert store.tasks.waiting(embedder.fingerprint) == 0


def test_sqlite_plans_no_filtered_query_anew_for_another_value(sqlite_store, embedder):
    """It would where a bound value might want another plan, and that takes longer than the query.

    Whoever plans a query asks the authorizer what may be read.
    """
    keys = hang(sqlite_store, embedder, *SHELF)
    read: list[str | None] = []

    def authorize(action, table, column, database, within):
        read.append(table)
        return apsw.SQLITE_OK

    sqlite_store.database.connection().authorizer = authorize
    asked = (Filters(), Filters(authors=("Mia",)), Filters(active=None, skills=("x",)))
    for limit, filters in enumerate(asked, start=1):
        read.clear()
        for way in ("words", "meaning", "name"):
            found(sqlite_store, embedder, way, filters, limit)
        sqlite_store.index.among(keys, filters)
        assert ("items" in read) == (limit == 1)
