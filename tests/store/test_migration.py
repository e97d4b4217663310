"""A board of the first schema, as its users have it, opened by today's program."""

import time

import apsw
import pytest

from making import entry_of, make_item, word_hits
from pegboard.app.pegboard import Pegboard
from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.model.calls import OnChange, Outcome
from pegboard.model.content import Version
from pegboard.model.curation import Edit
from pegboard.model.items import Filters, Mode, PutReport
from pegboard.model.runs import Run
from pegboard.store.planning import content_hash
from pegboard.store.queries import migrations
from pegboard.store.sqlite.opening import APPLICATION_ID
from pegboard.store.sqlite.rows import item_params
from pegboard.store.sqlite.store import SqliteStore
from pegboard.text import TEXT_VERSION, index_fields, name_key, terms, variants

TOOLS = {
    "send_letter": "Send a letter to the office.",
    "runQuery": "Ask the database something.",
    "создать_задачу": "Создать новую задачу.",
}


def tool_of(name):
    return make_item(
        name,
        description=TOOLS[name],
        source="tools",
        origin=f"mcptools/mail/{name}.py",
        origin_hash="of the old file",
    )


@pytest.fixture
def tools(tmp_path):
    root = tmp_path / "tools"
    for name, description in TOOLS.items():
        path = root / "mcptools" / "mail" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'def run():\n    """{description}"""\n', encoding="utf-8")
    return root


@pytest.fixture
def old(tmp_path, tools):
    """Only the first migration, with items as the first release wrote them: text version 1."""
    path = tmp_path / "board.db"
    connection = _made(path, 1)
    connection.execute(
        "INSERT INTO sources (name, kind, location, added_at) VALUES ('tools', 'pytools', ?, 0)",
        (str(tools),),
    )
    for key, name in enumerate(TOOLS, start=1):
        _put_as_of_old(connection, key, tool_of(name))
    connection.close()
    return path


def _made(path, schema):
    """A board with the migrations up to this one."""
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE migrations"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
    )
    for number, name, text in migrations("sqlite")[:schema]:
        connection.execute(text)
        connection.execute("INSERT INTO migrations VALUES (?, ?, 0)", (number, name))
    return connection


def _put_as_of_old(connection, key, item, text_version=1):
    row = item_params(item) | {
        "key": key,
        "content_hash": content_hash(item),
        "source_hash": "of the old text",
        "text_version": text_version,
        "embedding_status": "disabled",
        "imported_description": item.description,
        "created_at": time.time() - 9,
        "updated_at": time.time() - 9,
    }
    columns = {row[1] for row in connection.execute("PRAGMA table_info(items)")}
    _insert(connection, "items", {name: value for name, value in row.items() if name in columns})
    known = {row[1] for row in connection.execute("PRAGMA table_info(item_terms)")}
    fields = index_fields(item)._asdict()
    terms = {name: text for name, text in fields.items() if name in known}
    _insert(connection, "item_terms", {"rowid": key, **terms})


def _insert(connection, table, row):
    places = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)


def test_its_items_are_still_found_by_words(old):
    store = SqliteStore(old)
    assert store.database.schema == migrations("sqlite")[-1][0]
    assert [hit.id for hit in word_hits(store, ["letter"])] == ["mcptools:mail:send_letter"]
    assert [hit.id for hit in word_hits(store, terms("задачу"))] == ["mcptools:mail:создать_задачу"]
    assert store.index.frequencies(["letter", "unheard"]) == {"letter": 0}
    store.close()


@pytest.mark.parametrize("mode", Mode)
def test_before_the_next_sync_every_mode_answers_and_nothing_is_taken_for_a_name(old, mode):
    store = SqliteStore(old)
    for text in ("send letter", "!!!", "🎉", "leter", "send_letter"):
        ask = Ask(text, mode, threshold=0.0)
        hits = find(store, None, ask, FindSettings()).hits
        assert not [hit for hit in hits if "its name is the query" in hit.reason]
    store.close()


def test_the_next_sync_fills_in_names_spelling_and_vectors(old):
    settings = Settings(embed=EmbedSettings(provider="test"))
    with Pegboard(SqliteStore(old), settings) as board:
        index = board.store.index
        assert index.first_look([], name_key("run query"), Filters(), 5).named == []
        outcome = board.sync()
        assert (outcome.sources[0].changed, outcome.sources[0].error) == (len(TOOLS), "")
        assert outcome.work.embedded == len(TOOLS)
        look = index.first_look([], name_key("run query"), Filters(), 5)
        assert [hit.id for hit in look.named] == ["mcptools:mail:runQuery"]
        assert index.words_like(variants("leter"), [], 5).near == ["letter"]
        assert board.search("run query").hits[0].name == "runQuery"
        assert board.search("send leter").hits[0].name == "send_letter"
        assert {entry.text_version for entry in board.store.items.page(0, 9)} == {TEXT_VERSION}
        assert board.sync().sources[0].unchanged == len(TOOLS)
        assert board.check() == []


def test_an_item_from_before_skills_has_none_and_is_not_taken_for_changed(tmp_path):
    item = make_item("send", author="Mia", tags=("post",))
    connection = _made(tmp_path / "board.db", 4)
    assert "skills" not in {row[1] for row in connection.execute("PRAGMA table_info(items)")}
    _put_as_of_old(connection, 1, item, TEXT_VERSION)
    connection.close()
    store = SqliteStore(tmp_path / "board.db")
    assert entry_of(store, item).item == item
    assert store.items.put([item], None) == PutReport(unchanged=1)
    assert [h.id for h in word_hits(store, ["send"], Filters(authors=("Mia",)))] == [item.id]
    assert word_hits(store, ["send"], Filters(skills=("letters",))) == []
    assert store.items.put([item._replace(skills=("letters",))], None) == PutReport(changed=1)
    assert [h.id for h in word_hits(store, ["send"], Filters(skills=("letters",)))] == [item.id]
    assert store.check() == []
    store.close()


def test_what_was_held_back_before_there_was_a_word_for_it_still_is(tmp_path):
    item = make_item("send")
    connection = _made(tmp_path / "board.db", 7)
    _put_as_of_old(connection, 1, item)
    connection.execute(
        "UPDATE items SET active = 0, drift = 'changed', approved_hash = 'of what it was';"
        "INSERT INTO approved_definitions VALUES (1, '{}')"
    )
    connection.close()
    store = SqliteStore(tmp_path / "board.db")
    store.items.put([item], None, on_change=OnChange.WARN)
    [change] = store.items.changed()
    assert not change.entry.active
    assert store.items.approve([change.entry], None) == 1
    assert [hit.id for hit in word_hits(store, ["send"])] == [item.id]
    assert (change.entry.item.links, change.entry.item.permissions) == ((), ())
    assert store.check() == []
    store.close()


def test_a_board_from_before_runs_remembers_them_and_keeps_the_version_it_has(tmp_path):
    item = make_item("send", version=Version("1.0.0", "old"))
    connection = _made(tmp_path / "board.db", 9)
    _put_as_of_old(connection, 1, item, TEXT_VERSION)
    connection.execute(
        "INSERT INTO item_versions (item_key, version, manifest, content_hash, created_at)"
        " VALUES (1, '1.0.0', '{}', 'old', 0)"
    )
    connection.close()
    store = SqliteStore(tmp_path / "board.db")
    assert store.runs.recent() == []
    store.runs.record(Run("public", item.id, "1.0.0", time.time(), Outcome.OK, 0.5))
    assert store.runs.counts(item.id).ok == 1
    assert entry_of(store, item).item == item
    store.items.put([item._replace(version=Version("1.1.0", "new"))], None)
    assert [line.number for line in store.items.versions(item.id, "public")] == ["1.1.0", "1.0.0"]
    assert store.items.version(item.id, "public", "1.0.0") == item.version
    assert store.check() == []
    store.close()


def test_a_board_from_before_people_gave_tags_has_those_of_its_sources_and_takes_others(tmp_path):
    item = make_item("send", tags=("post",))
    connection = _made(tmp_path / "board.db", 10)
    _put_as_of_old(connection, 1, item, TEXT_VERSION)
    connection.close()
    store = SqliteStore(tmp_path / "board.db")
    entry = entry_of(store, item)
    assert (entry.imported_tags, entry.tags_override, entry.tags_override_at) == (
        *(("post",), False),
        None,
    )
    store.curation.edit(entry, Edit(tags=("money",)), "mia", None)
    store.items.put([item], None)
    assert entry_of(store, item).item.tags == ("money",)
    assert store.curation.edit(entry, Edit(tags=None), "mia", None).item == item
    assert store.check() == []
    store.close()
