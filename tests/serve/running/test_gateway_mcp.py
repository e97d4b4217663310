"""MCP over HTTP: both eras of the protocol, and every caller with sessions of its own."""

import asyncio
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateway_parts import BOUND, Here, Tokens
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, ToolListChangedNotification

from making import make_item
from pegboard.model.calls import Caller, Role, ServerConfig, Transport
from pegboard.serve.http import mcp
from pegboard.serve.http.resuming import Resumable
from pegboard.serve.mcp import changes
from waiting import until

CHANGING = Path(__file__).parents[2] / "strangers" / "changing_server.py"
READER = Caller("rita", ("team-a",))
AUTHOR = Caller("ada", ("team-a",), Role.AUTHOR)
OTHER = Caller("otto", ("team-b",), Role.ADMIN)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def board(open_board):
    found = open_board(serve__requests_per_minute=0)
    items = [
        make_item(f"{team}_secret", namespace=team, category=team, origin=f"{team}.py")
        for team in ("team-a", "team-b")
    ]
    found.store.items.put(items, found.target)
    return found


@pytest.fixture
def tokens():
    return Tokens(reader=READER, author=AUTHOR, other=OTHER)


@pytest.fixture
def here(board, tokens):
    with Here(board, tokens) as found:
        yield found


@pytest.fixture(params=["auto", "legacy"])
def era(request):
    return request.param


@asynccontextmanager
async def connected(here: Here, token: str, era: str, **options: Any):
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        asyncio.timeout(BOUND),
        httpx2.AsyncClient(headers=headers, timeout=BOUND) as http,
        Client(
            streamable_http_client(f"{here.url}/mcp", http_client=http), mode=era, **options
        ) as c,
    ):
        yield c


def with_client(here, token, era, work, **options):
    async def run():
        async with connected(here, token, era, **options) as client:
            return await work(client)

    return asyncio.run(run())


def test_a_client_finds_and_lists_what_its_caller_sees(here, era):
    async def work(client):
        tools = await client.list_tools()
        found = await client.call_tool("search_tools", {"query": "secret", "mode": "bm25"})
        return tools, [hit["id"] for hit in found.structured_content["hits"]]

    tools, found = with_client(here, "reader", era, work)
    assert found == ["team-a/mcptools:team-a:team-a_secret"]
    names = [tool.name for tool in tools.tools]
    assert names == ["search_tools", "describe_tool", "call_tool", "list_categories", "list_tools"]
    assert "team-b" not in str(tools)
    _, found = with_client(here, "other", era, work)
    assert found == ["team-b/mcptools:team-b:team-b_secret"]


def test_an_author_is_offered_to_create(here, era):
    names = with_client(here, "author", era, lambda client: client.list_tools())
    assert "create_tool" in [tool.name for tool in names.tools]


def test_whoever_is_not_signed_in_gets_no_further(here):
    with here.client() as client:
        assert client.post("/mcp", json=HELLO, headers=ACCEPT).status_code == 401
        assert client.get("/mcp", headers=ACCEPT).status_code == 401


def test_the_session_of_another_caller_is_as_unknown_as_one_that_never_was(here):
    """In every way in which a session can be used."""
    with here.client("reader") as mine, here.client("other") as other:
        session = mine.post("/mcp", json=HELLO, headers=ACCEPT).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

        def ask(client, method, number):
            headers = ACCEPT | {"Mcp-Session-Id": number, "MCP-Protocol-Version": "2025-11-25"}
            body = {"json": ping} if method == "POST" else {}
            found = client.request(method, "/mcp", headers=headers, **body)
            return found.status_code, found.content

        for method in ("POST", "GET", "DELETE"):
            assert ask(other, method, session) == ask(other, method, "0" * 32)
            assert ask(other, method, session)[0] == 404
        assert ask(mine, "POST", session)[0] == 200
        assert ask(mine, "DELETE", session)[0] == 200
        assert ask(mine, "POST", session)[0] == 404


class Hearing:
    """A client that counts what it hears of changes."""

    def __init__(self, here, token, era):
        self.here, self.token, self.era = here, token, era
        self.times = 0
        self.news = asyncio.Event()

    def hear(self):
        self.times += 1
        self.news.set()

    async def message(self, message):
        if isinstance(message, ToolListChangedNotification):
            self.hear()

    async def listen(self, client, listening):
        async with client.listen(tools_list_changed=True) as subscription:
            listening.set()
            async for _ in subscription:
                self.hear()

    async def __aenter__(self):
        options = {"message_handler": self.message} if self.era == "legacy" else {}
        self._connection = connected(self.here, self.token, self.era, **options)
        client = await self._connection.__aenter__()
        self.capabilities = client.server_capabilities
        self._task = None
        if self.era == "auto":
            listening = asyncio.Event()
            self._task = asyncio.create_task(self.listen(client, listening))
            await listening.wait()
        await client.list_tools()
        return self

    async def __aexit__(self, *error):
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        return await self._connection.__aexit__(*error)


def test_a_change_is_heard_of_only_where_it_is_seen(here, board, era, monkeypatch):
    monkeypatch.setattr(changes, "PAUSE_SECONDS", 0.0)

    def add(name, namespace):
        item = make_item(name, namespace=namespace, category=name, origin=f"{name}.py")
        board.store.items.put([item], None)
        here.gateway.board_changed()

    async def run():
        async with Hearing(here, "reader", era) as one, Hearing(here, "other", era) as other:
            assert one.capabilities.tools.list_changed
            for number in range(3):
                one.news.clear()
                await asyncio.to_thread(add, f"more-{number}", "team-a")
                await one.news.wait()
            assert (one.times, other.times) == (3, 0)
            await asyncio.to_thread(add, "theirs", "team-b")
            await other.news.wait()
            assert (one.times, other.times) == (3, 1)

    asyncio.run(asyncio.wait_for(run(), BOUND))


@pytest.fixture
def upstream(board, tmp_path):
    """A real MCP server behind the board, with a tool that can destroy something."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    tool = {"name": "shred", "description": "Shred it.", "inputSchema": {"type": "object"}}
    hints = {"annotations": {"destructiveHint": True, "readOnlyHint": False}}
    note = {"name": "note", "description": "Note it.", "inputSchema": {"type": "object"}}
    (folder / "tools.json").write_text(json.dumps([tool | hints, note]))
    command = (str(CHANGING), str(folder))
    config = ServerConfig("office", Transport.STDIO, sys.executable, command, namespace="team-a")
    board.add_servers([config])
    board.sync(["office"])


def call(name):
    return lambda client: client.call_tool("call_tool", {"name": name, "arguments": {}})


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def test_an_author_is_asked_and_a_reader_is_denied(here, upstream, era):
    asked = []

    async def person(context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={"approve": True})

    done = with_client(
        here, "author", era, call("team-a/mcp:office:shred"), elicitation_callback=person
    )
    assert (done.is_error, len(asked)) == (False, 1)
    assert "shred called with" in text_of(done)
    denied = with_client(
        here, "reader", era, call("team-a/mcp:office:shred"), elicitation_callback=person
    )
    assert (denied.is_error, len(asked)) == (True, 1)
    assert "only the role author can approve it" in text_of(denied)
    allowed = with_client(here, "reader", era, call("team-a/mcp:office:note"))
    assert "note called with" in text_of(allowed)
    with here.client("other") as client:
        assert "mcp:office" not in client.get("/search?query=shred+note").text
    unknown = with_client(here, "other", era, call("team-a/mcp:office:note"))
    assert "there is no item" in text_of(unknown)


def test_a_token_that_is_taken_away_ends_what_listens(here, tokens, monkeypatch):
    monkeypatch.setattr("pegboard.serve.http.lasting.PAUSE_SECONDS", 0.0)
    with here.client("reader") as client:
        session = client.post("/mcp", json=HELLO, headers=ACCEPT).headers["mcp-session-id"]
        headers = ACCEPT | {"Mcp-Session-Id": session}
        with client.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            del tokens.callers["reader"]
            here.gateway.board_changed()
            assert list(stream.iter_bytes()) == []


def test_what_listens_ends_when_the_gateway_stops_and_a_call_in_hand_does_not(
    board, tokens, monkeypatch
):
    release, began, census = threading.Event(), threading.Event(), type(board).census

    def slow(self):
        began.set()
        release.wait(BOUND)
        return census(self)

    params = {"name": "list_categories", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    with Here(board, tokens) as here, here.client("reader") as client, ThreadPoolExecutor(1) as one:
        session = client.post("/mcp", json=HELLO, headers=ACCEPT).headers["mcp-session-id"]
        headers = ACCEPT | {"Mcp-Session-Id": session}
        monkeypatch.setattr(type(board), "census", slow)
        calling = one.submit(client.post, "/mcp", json=call, headers=headers)
        assert began.wait(BOUND)
        with client.stream("GET", "/mcp", headers=headers) as stream:
            here.stop()
            assert list(stream.iter_bytes()) == []
        assert not calling.done()
        release.set()
        assert '"result"' in calling.result(BOUND).text


def test_those_of_the_later_era_who_listen_are_told_that_it_ends(here):
    async def run():
        async with Hearing(here, "reader", "auto") as hearing:
            here.stop()
            await hearing._task  # which ends without an error

    asyncio.run(asyncio.wait_for(run(), BOUND))


def test_sessions_have_a_bound_and_idle_ones_are_no_burden(here, monkeypatch):
    monkeypatch.setattr(mcp, "MOST_SESSIONS", 2)
    with here.client("reader") as client, here.client("other") as other:
        statuses = [client.post("/mcp", json=HELLO, headers=ACCEPT) for _ in range(3)]
        assert [each.status_code for each in statuses] == [200, 200, 503]
        assert statuses[-1].headers["retry-after"] == "1"
        assert other.post("/mcp", json=HELLO, headers=ACCEPT).status_code == 200
        session = statuses[0].headers["mcp-session-id"]
        assert client.delete("/mcp", headers={"Mcp-Session-Id": session}).status_code == 200
        assert client.post("/mcp", json=HELLO, headers=ACCEPT).status_code == 200


def test_a_session_that_nobody_uses_ends(here, monkeypatch):
    monkeypatch.setattr(mcp, "IDLE_SECONDS", 0.05)
    with here.client("reader") as client:
        session = client.post("/mcp", json=HELLO, headers=ACCEPT).headers["mcp-session-id"]
        host = here.state.mcp
        until(lambda: host.hosted(READER).sessions.open == 0, "it ended")
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        headers = ACCEPT | {"Mcp-Session-Id": session}
        assert client.post("/mcp", json=ping, headers=headers).status_code == 404


def test_the_caller_who_was_idle_longest_makes_room(here, tokens, monkeypatch):
    monkeypatch.setattr(mcp, "MOST_CALLERS", 2)
    for number in range(4):
        tokens.callers[f"guest{number}"] = Caller(f"guest{number}")
        with here.client(f"guest{number}") as client:
            begun = client.post("/mcp", json=HELLO, headers=ACCEPT)
            assert begun.status_code == 200
            headers = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
            assert client.delete("/mcp", headers=headers).status_code == 200
    host = here.state.mcp
    assert [caller.subject for caller in host._hosted] == ["guest2", "guest3"]


def test_while_all_are_busy_another_caller_is_told_to_wait(here, tokens, monkeypatch):
    monkeypatch.setattr(mcp, "MOST_CALLERS", 1)
    with here.client("reader") as client, here.client("other") as other:
        assert client.post("/mcp", json=HELLO, headers=ACCEPT).status_code == 200
        refused = other.post("/mcp", json=HELLO, headers=ACCEPT)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many")


def test_a_client_that_lost_its_connection_gets_what_it_missed(here):
    with here.client("reader") as client:
        begun = client.post("/mcp", json=HELLO, headers=ACCEPT)
        headers = ACCEPT | {
            "Mcp-Session-Id": begun.headers["mcp-session-id"],
            "MCP-Protocol-Version": "2025-11-25",
        }
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert client.post("/mcp", json=ready, headers=headers).status_code == 202
        ask = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
        answered = client.post("/mcp", json=ask, headers=headers).text
        first = next(line for line in answered.splitlines() if line.startswith("id: "))
        resumed = headers | {"Last-Event-ID": first.removeprefix("id: ")}
        with client.stream("GET", "/mcp", headers=resumed) as stream:
            again = next(line for line in stream.iter_lines() if '"id":7' in line)
        assert again in answered


def test_what_is_kept_to_be_sent_again_has_bounds(monkeypatch):
    from mcp_types import JSONRPCNotification

    def message(size):
        return JSONRPCNotification(jsonrpc="2.0", method="m", params={"x": "y" * size})

    async def run():
        store, sent = Resumable(), []

        async def send(event):
            sent.append(event.event_id)

        first = await store.store_event("1", None)
        for _ in range(3):
            await store.store_event("1", message(1))
            await store.store_event("2", message(1))
        assert await store.replay_events_after(first, send) == "1"
        assert sent == ["2", "4", "6"]
        for _ in range(500):
            last = await store.store_event("1", message(20_000))
        assert await store.replay_events_after(first, send) is None
        assert store._letters <= 1_000_000
        assert await store.replay_events_after(last, send) == "1"
        await store.store_event("1", message(2_000_000))
        assert await store.replay_events_after("nonsense", send) is None

    asyncio.run(run())
