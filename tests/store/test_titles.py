"""Titles and ranking cards of items, and boards that are older than both."""

from contextlib import closing

import psycopg
import pytest
from seen_parts import PEOPLE, office
from test_migration import _made, _put_as_of_old

from making import entry_of, hang, make_item, word_hits
from pegboard.model.items import PUBLISHED, Kind, PutReport, ToolType, Visibility
from pegboard.store.planning import content_hash, definition_hash
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import migrations
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import TEXT_VERSION, card, title, variants

BEFORE = {"sqlite": 15, "postgres": 14}
SCHEMA = {"properties": {"recipient": {"type": "string", "description": "Who gets the stamp."}}}
OLD = make_item(
    "send",
    description="Dispatch a letter.",
    tags=("post",),
    aliases=("Post it",),
    input_schema=SCHEMA,
    endpoint="POST /letters",
)


# Cards.


def test_a_card_is_written_with_the_item_and_changes_with_it(store):
    item = make_item("send", title="Send a letter")
    store.items.put([item, make_item("other")], None)
    key = entry_of(store, item).key
    assert store.index.cards([key]) == {key: card(item)}
    changed = item._replace(title="Post a parcel", input_schema=SCHEMA)
    store.items.put([changed], None)
    assert entry_of(store, item).item.title == "Post a parcel"
    assert store.index.cards([key]) == {key: card(changed)}
    assert store.index.cards([key + 100]) == store.index.cards([]) == {}
    assert store.check() == []


def test_a_title_is_found_by_its_words(store):
    store.items.put([make_item("send", title="Dispatch parcels"), make_item("other")], None)
    assert [hit.id for hit in word_hits(store, ["parcel"])] == ["mcptools:mail:send"]


def test_the_card_goes_with_the_item(store):
    item = make_item("send", origin="gone")
    store.items.put([item], None)
    key = entry_of(store, item).key
    store.items.retire("tools", [], float("inf"), 0.0)
    store.items.retire("tools", [], float("inf"), float("inf"))
    assert store.items.page(0, 10) == []
    assert store.index.cards([key]) == {}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def whole(request, tmp_path_factory):
    server = lambda: request.getfixturevalue("postgres_server")  # noqa: E731
    with office(request.param, server, tmp_path_factory.mktemp("whole")) as store:
        yield store


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.subject or "anon")
def test_a_caller_gets_the_cards_of_what_he_can_see_and_no_others(whole, person):
    entries = whole.items.page(0, 1000)
    keys = [entry.key for entry in entries]
    assert whole.index.cards(keys).keys() == set(keys)
    index = whole.seen_by(person).index
    found = index.cards(keys)
    assert found.keys() == index.entries(keys).keys()
    assert found == {entry.key: card(entry.item) for entry in entries if entry.key in found}
    hidden = [entry.key for entry in entries if entry.item.author not in ("", person.subject)]
    private = {
        entry.key
        for entry in entries
        if entry.key in hidden and entry.item.visibility is Visibility.PRIVATE
    }
    assert private
    assert not private & found.keys()


# SQL clients.


def test_sql_clients_find_tools_by_title_and_by_parameters(postgres_store, postgres_url, embedder):
    hang(postgres_store, embedder, OLD._replace(title="Parcel service"))
    with psycopg.connect(postgres_url) as sql:
        [(content,)] = sql.execute("SELECT content FROM tool_embeddings").fetchall()
        for word in ("parcel", "recipient", "stamp"):
            assert word in content.casefold()
            asked = "SELECT name FROM search_tools_hybrid(%s, NULL)"
            assert sql.execute(asked, [word]).fetchall() == [("send",)], word


# Approval.


def test_a_changed_title_is_noticed_unless_the_description_says_it_already():
    plain = make_item("send", tool_type=ToolType.API, description="Send a letter. By post.")
    assert definition_hash(plain._replace(title="send A LETTER")) == definition_hash(plain)
    assert definition_hash(plain._replace(title="Burn it")) != definition_hash(plain)
    tool = plain._replace(tool_type=ToolType.MCP)
    assert definition_hash(tool._replace(title="Send a letter")) != definition_hash(tool)


# Boards from before.


def test_the_migrations_are_those_that_bring_titles():
    for kind, number in BEFORE.items():
        later = [name for each, name, _ in migrations(kind) if each > number]
        assert later[0].endswith("_titles")


@pytest.fixture(params=["sqlite", "postgres"])
def upgraded(request, tmp_path):
    """A board of the schema before, with three items, brought up to date."""
    if request.param == "sqlite":
        yield from _of_sqlite(tmp_path / "board.db")
    else:
        yield from _of_postgres(request.getfixturevalue("empty_database"))


HIDDEN = make_item("burn", description="Incinerate secretly.", visibility=Visibility.PRIVATE)
GUIDE = make_item("guide", kind=Kind.KNOWLEDGE, body="# Envelopes\n\nFold them.", source=PUBLISHED)
FINGERPRINT = "INSERT INTO fingerprints (provider, model, dimension, text_version) VALUES "


def _of_sqlite(path):
    connection = _made(path, BEFORE["sqlite"])
    for key, item in enumerate((OLD, HIDDEN, GUIDE), start=1):
        _put_as_of_old(connection, key, item, 3)
    connection.execute("UPDATE items SET terms = 1; DELETE FROM item_terms WHERE rowid = 3")
    connection.execute(FINGERPRINT + "('test', 'm', 8, 3), ('test', 'm', 8, 2)")
    connection.close()
    with closing(SqliteStore(path)) as store:
        yield store


def _of_postgres(url):
    upgrade(url, "here", through=BEFORE["postgres"])
    with psycopg.connect(url) as connection:
        for item in (OLD, HIDDEN, GUIDE):
            connection.execute(
                "INSERT INTO items (id, name, short_name, category, source, origin, origin_hash,"
                " description, imported_description, tags, aliases, input_schema, endpoint, kind,"
                " visibility, body, content_hash, text_version) VALUES"
                " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::json, %s, %s, %s, %s, %s, 3)",
                [
                    *(item.id, item.name, item.short_name, item.category, item.source),
                    *(item.origin, item.origin_hash, item.description, item.description),
                    *(list(item.tags), list(item.aliases)),
                    psycopg.types.json.Json(dict(item.input_schema)),
                    *(item.endpoint, item.kind.value, item.visibility.value, item.body),
                    content_hash(item),
                ],
            )
        connection.execute(
            "INSERT INTO item_texts (kind, item_key, namespace, length, name, content)"
            " SELECT kind, key, namespace, 1, name, 'as embedded' FROM items"
        )
        connection.execute(FINGERPRINT + "('test', 'm', 8, 3), ('test', 'm', 8, 2)")
    assert upgrade(url, "here")[0] == "0015_titles"
    with closing(PostgresStore(url)) as store:
        yield store


def test_search_works_directly_after_the_upgrade(upgraded):
    for word, item in (("dispatch", OLD), ("recipi", OLD), ("post", OLD), ("envelop", GUIDE)):
        assert [hit.id for hit in word_hits(upgraded, [word])] == [item.id], word
    near = upgraded.index.words_like(variants("dispach"), [], 9).near
    assert near == ["dispatch"]
    entries = {entry.key: entry for entry in upgraded.items.page(0, 9)}
    assert upgraded.index.cards(list(entries)) == {
        key: card(entry.item) for key, entry in entries.items()
    }
    assert [said for said in upgraded.check() if "hash of another text" not in said] == []


def test_the_words_of_what_is_hidden_stay_hidden(upgraded):
    view = upgraded.seen_by(PEOPLE[0])
    assert view.index.words_like(variants("incinerat"), [], 9).near == []


def test_old_vectors_are_kept_and_the_next_sync_reads_titles(upgraded):
    found = upgraded.database.rows("SELECT text_version FROM fingerprints ORDER BY 1")
    assert found == [(2,), (3,)]
    versions = {each.item.name: each.text_version for each in upgraded.items.page(0, 9)}
    assert versions == {"send": 3, "burn": 3, "guide": 3}
    assert OLD.origin not in upgraded.items.origins("tools")
    titled = OLD._replace(title="Send a letter")
    assert upgraded.items.put([titled], None) == PutReport(changed=1)
    assert title(entry_of(upgraded, OLD).item) == "Send a letter"


def test_a_board_without_source_labels_gets_them_when_it_is_opened(tmp_path):
    path = tmp_path / "board.db"
    with closing(_made(path, 16)) as connection:
        item = OLD._replace(source="zulip", namespace="team")
        _put_as_of_old(connection, 1, item, TEXT_VERSION)
        connection.execute("UPDATE items SET terms = 1")
    with closing(SqliteStore(path)) as store:
        for word in ("zulip", "team", "dispatch"):
            assert [hit.id for hit in word_hits(store, [word])] == [item.id], word
        [entry] = store.items.page(0, 9)
        assert store.index.cards([entry.key]) == {entry.key: card(entry.item)}
