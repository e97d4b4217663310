"""MCP servers as rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import hang, make_item
from pegboard.errors import BoardCorrupt
from pegboard.model.calls import Health, ServerConfig, ServerState, Transport
from pegboard.store.servers import config_from, config_text

CLOCK = ServerConfig(
    "clock",
    Transport.STDIO,
    command="uvx",
    args=("mcp-server-time", "--zone", "Europe/Zürich"),
    env={"TOKEN": "${CLOCK_TOKEN:-none}"},
    cwd="/srv",
    exclude_tools=("set_*",),
    call_seconds=5.0,
)
DOCS = ServerConfig(
    "docs", Transport.HTTP, url="https://example.com/mcp", headers={"X-Team": "${TEAM}"}
)


def test_servers_come_back_as_they_were_put_in_order_of_name(store):
    store.ledger.put_server(DOCS, "docs")
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    assert [server.config for server in store.ledger.servers()] == [CLOCK, DOCS]
    assert [server.state for server in store.ledger.servers()] == [
        ServerState("clock"),
        ServerState("docs"),
    ]


def test_a_server_is_a_source_too(store):
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    [record] = store.ledger.sources()
    assert (record.name, record.kind, record.namespace) == ("clock", "mcp", "public")
    assert record.location == "uvx mcp-server-time"


def test_a_reference_to_a_secret_is_stored_as_it_was_written(store):
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    [server] = store.ledger.servers()
    assert server.config.env["TOKEN"] == "${CLOCK_TOKEN:-none}"


def test_putting_a_server_again_changes_it_and_keeps_how_it_stood(store):
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    state = ServerState("clock", Health.DOWN, "no such command", 0, 1.5)
    store.ledger.mark_server(state)
    store.ledger.put_server(CLOCK._replace(args=(), enabled=False), "uvx")
    [server] = store.ledger.servers()
    assert server.config == CLOCK._replace(args=(), enabled=False)
    assert server.state == state


def test_how_a_server_stood_is_remembered(store):
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    live = ServerState("clock", Health.LIVE, "", 2, 3.5)
    store.ledger.mark_server(live)
    assert store.ledger.servers()[0].state == live


def test_marking_a_server_that_is_gone_adds_none(store):
    store.ledger.mark_server(ServerState("ghost", Health.DOWN, "gone"))
    assert store.ledger.servers() == []


def test_removing_the_source_removes_the_server_and_its_tools(store, embedder):
    store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    store.ledger.put_server(DOCS, "docs")
    hang(store, embedder, make_item("now", source="clock"))
    assert store.ledger.remove_source("clock")
    assert [server.config.name for server in store.ledger.servers()] == ["docs"]
    assert store.items.page(0, 10) == []


def test_a_row_that_cannot_be_read_is_a_clear_error(sqlite_store):
    sqlite_store.ledger.put_server(CLOCK, "uvx mcp-server-time")
    with sqlite_store.database.write() as tx:
        tx.execute("UPDATE mcp_servers SET config = 'nonsense'")
    with pytest.raises(BoardCorrupt, match="row of an MCP server"):
        sqlite_store.ledger.servers()


texts = st.text(max_size=8)
lists = st.lists(texts, max_size=3).map(tuple)
pairs = st.dictionaries(texts, texts, max_size=3)


@given(
    st.builds(
        ServerConfig,
        name=texts,
        transport=st.sampled_from(Transport),
        command=texts,
        args=lists,
        env=pairs,
        headers=pairs,
        include_tools=lists,
        exclude_tools=lists,
        start_seconds=st.floats(0.1, 1e6),
        call_seconds=st.floats(0.1, 1e6),
        namespace=texts,
        enabled=st.just(True),
        declared_in=st.just(""),
    )
)
def test_a_configuration_comes_back_from_its_row_as_it_was(config):
    back = config_from(config_text(config))
    assert back == config
    assert type(back.transport) is Transport


def test_a_row_of_an_older_version_gets_the_defaults():
    assert config_from('{"name": "a", "transport": "sse"}') == ServerConfig("a", Transport.SSE)
