"""Tools of the servers behind `pegboard mcp`, real ones and one that does as the test wants."""

import asyncio

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from strangers_parts import BOUND, Desk, by_words, call, search, text_of

from real_servers import clock, everything
from waiting import soon

ASKED = (
    ("mcp:everything:echo", {"message": "Grüezi → 送金 💸"}),
    ("mcp:everything:get-sum", {"a": 2, "b": 3}),
    ("mcp:everything:get-tiny-image", {}),
    ("mcp:everything:get-structured-content", {"location": "Chicago"}),
    ("mcp:everything:get-resource-links", {"count": 3}),
    ("mcp:everything:get-annotated-message", {"messageType": "error", "includeImage": True}),
    (
        "mcp:time:convert_time",
        {"source_timezone": "Europe/Zurich", "time": "12:00", "target_timezone": "Nowhere/Else"},
    ),
)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A board with two real servers, for tests that change nothing on it."""
    desk = Desk(tmp_path_factory.mktemp("real"))
    desk.make()
    for config in (everything(), clock()):
        desk.add(config.name, [config.command, *config.args])
    desk.run("sync")
    return desk


@pytest.fixture(scope="module")
def straight():
    """What the servers themselves answer."""

    async def direct(config):
        command = StdioServerParameters(command=config.command, args=list(config.args))
        async with asyncio.timeout(BOUND), Client(command) as client:
            return [
                await client.call_tool(asked.split(":")[2], arguments)
                for asked, arguments in ASKED
                if asked.split(":")[1] == config.name
            ]

    return [*asyncio.run(direct(everything())), *asyncio.run(direct(clock()))]


LONG = {
    "name": "mcp:everything:trigger-long-running-operation",
    "arguments": {"duration": 0.4, "steps": 4},
}


def test_results_and_progress_come_back_as_the_servers_themselves_give_them(real, straight, era):
    seen = []

    async def watch(done, total, message):
        seen.append((done, total))

    async def talk():
        async with real.client(era=era) as client:
            await client.call_tool("call_tool", LONG, progress_callback=watch)
            return [await call(client, name, **arguments) for name, arguments in ASKED]

    through_board = asyncio.run(talk())
    assert seen == [(step, 4) for step in (1, 2, 3, 4)]
    kinds = {block.type for result in through_board for block in result.content}
    assert kinds == {"text", "image", "resource_link"}
    assert [result.is_error for result in through_board] == [False] * 6 + [True]
    assert through_board[3].structured_content.keys() == {"temperature", "conditions", "humidity"}
    for (name, _), theirs, ours in zip(ASKED, straight, through_board, strict=True):
        assert ours.content == theirs.content, name
        assert ours.structured_content == theirs.structured_content, name
        assert ours.is_error == theirs.is_error, name


def test_arguments_that_do_not_fit_name_the_broken_part(real):
    async def talk():
        async with real.client() as client:
            return await call(client, "mcp:time:convert_time", time=12)

    refused = asyncio.run(talk())
    assert refused.is_error
    assert "/time: 12 is not of type 'string'" in text_of(refused)
    assert "source_timezone" in text_of(refused)


async def office(client):
    """Wait until its tools are on the board."""
    await soon(lambda: by_words(client, "write a note"), "the tools of the server")


def test_a_client_that_gives_up_calls_off_the_work_of_the_server_behind(desk, upstream, era):
    desk.add("office", upstream.command)

    async def there(name):
        return upstream.left(name).exists()

    async def talk():
        async with desk.client(era=era) as client:
            await office(client)
            waiting = asyncio.create_task(call(client, "mcp:office:wait"))
            await soon(lambda: there("waiting"), "the call")
            waiting.cancel()
            await soon(lambda: there("cancelled"), "the cancellation")
            return text_of(await call(client, "mcp:office:note", text="still here"))

    assert asyncio.run(talk()) == 'note called with {"text": "still here"}'


def test_a_server_that_dies_and_comes_back_can_be_called_again(desk, upstream):
    desk.add("office", upstream.command)

    async def works(client):
        result = await call(client, "mcp:office:note")
        return not result.is_error and text_of(result)

    async def talk():
        async with desk.client() as client:
            await office(client)
            dead = await call(client, "mcp:office:die")
            return dead, await soon(lambda: works(client), "the server's return")

    dead, again = asyncio.run(talk())
    assert dead.is_error
    assert "office" in text_of(dead)
    assert again == "note called with {}"


def test_tools_of_a_server_that_no_longer_starts_are_found_and_say_so(desk, upstream):
    desk.add("office", upstream.command)

    async def talk():
        async with desk.client() as client:

            async def noted():
                found = await client.call_tool("search_tools", {"query": "write a note"})
                return found.structured_content["hits"][0].get("notes")

            await office(client)
            upstream.left("tools.json").unlink()
            await call(client, "mcp:office:die")
            notes = await soon(noted, "the server's end")
            refused = await call(client, "mcp:office:note")
            return notes, refused, await search(client, "write a note", executable=True)

    notes, refused, executable = asyncio.run(talk())
    assert "down" in notes[0]
    assert refused.is_error
    assert "office" in text_of(refused)
    assert [each for each in executable if each.startswith("mcp:")] == []


def test_tools_that_a_server_announces_are_found(desk, upstream):
    upstream.offer(note="Write a note.", announce="Announce a change.")
    desk.add("office", upstream.command)

    async def talk():
        async with desk.client() as client:
            await office(client)
            upstream.offer(announce="Announce a change.", juggle="Juggle three balls.")
            await call(client, "mcp:office:announce")
            found = await soon(lambda: by_words(client, "juggle"), "the new tool")
            return found, await by_words(client, "write a note")

    found, gone = asyncio.run(talk())
    assert (found, gone) == (["mcp:office:juggle"], [])


def test_a_search_for_what_can_be_called_waits_for_servers_that_are_starting(real):
    async def talk():
        async with real.client() as client:
            return await search(client, "current time", executable=True, limit=1)

    assert asyncio.run(talk()) == ["mcp:time:get_current_time"]


def test_a_server_that_is_added_meanwhile_is_taken_up(desk, upstream):
    async def talk():
        async with desk.client() as client:
            await soon(lambda: search(client, "message"), "the first sync")
            await asyncio.to_thread(desk.add, "office", upstream.command)
            await office(client)
            return text_of(await call(client, "note"))

    assert asyncio.run(talk()) == "note called with {}"


def test_an_agent_reaches_only_the_namespaces_it_is_served(real):
    async def talk():
        async with real.client("--namespace", "acme") as client:
            found = await search(client, "current time")
            described = await client.call_tool("describe_tool", {"name": "mcp:time:convert_time"})
            return found, described, await call(client, "mcp:time:convert_time")

    found, *refused = asyncio.run(talk())
    assert found == []
    for each in refused:
        assert each.is_error
        assert "there is no item 'mcp:time:convert_time'" in text_of(each)
