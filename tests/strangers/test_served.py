"""`pegboard mcp` as a process, talked to by the SDK's own client in both eras of the protocol."""

import asyncio
from contextlib import asynccontextmanager

from mcp_types import ToolListChangedNotification
from strangers_parts import BOUND, by_words, search

from waiting import soon

SAVED = 5.0
"""In which a saved file must be found; the aim is one."""


async def census(client):
    tools = await client.list_tools(cache_mode="bypass")
    return tools.tools[0].description.rpartition("\n")[2]


class Hearing:
    """Hears of changes in whichever way the client's era has for that."""

    def __init__(self, era):
        self.era = era
        self.news = asyncio.Event()
        self.options = {"message_handler": self._message} if era == "legacy" else {}

    async def _message(self, message):
        if isinstance(message, ToolListChangedNotification):
            self.news.set()

    @asynccontextmanager
    async def to(self, client):
        listening = asyncio.Event()
        task = asyncio.create_task(self._listen(client, listening))
        await listening.wait()
        try:
            yield self.news
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen(self, client, listening):
        if self.era == "legacy":
            listening.set()
            return
        async with client.listen(tools_list_changed=True) as changes:
            listening.set()
            async for _ in changes:
                self.news.set()


def test_a_search_goes_by_words_while_vectors_are_still_coming(desk):
    """With the real model, and so many tools that it takes a while."""
    for number in range(600):
        desk.save(f"mcptools/farm/count_{number}.py", f"Count {number} sheep on the way home.")
    desk.environ["PEGBOARD_EMBED_PROVIDER"] = "local"
    desk.run("sync", "--no-embed")

    async def talk():
        async with desk.client() as client:
            return await client.call_tool("search_tools", {"query": "message into a channel"})

    found = asyncio.run(talk()).structured_content
    assert found["hits"][0]["id"] == "mcptools:chat:post_message"
    assert any("no vector yet" in notice for notice in found["notices"])


def test_a_saved_file_is_found_and_counted_and_clients_hear_of_it(desk, era):
    async def talk():
        hearing = Hearing(era)
        async with desk.client(era=era, **hearing.options) as client:
            await soon(lambda: search(client, "send a message"), "the first sync")
            async with hearing.to(client) as news:
                before = await census(client)
                desk.save("mcptools/farm/milk.py", "Milk the cow in the morning.")
                await soon(lambda: by_words(client, "milk the cow"), "the new file", SAVED)
                await asyncio.wait_for(news.wait(), BOUND)
            return before, await census(client)

    before, after = asyncio.run(talk())
    assert before == "On the board: 1 item (mcptools 1). Categories: chat 1."
    assert after == "On the board: 2 items (mcptools 2). Categories: chat 1, farm 1."


def test_a_file_that_changes_moves_or_goes_is_followed(desk):
    async def talk():
        async with desk.client() as client:
            await soon(lambda: search(client, "message"), "the first sync")
            desk.save("mcptools/chat/post_message.py", "Sing a song to a channel.")
            await soon(lambda: by_words(client, "sing a song"), "the edit", SAVED)
            folder = desk.tools / "mcptools"
            (folder / "chat").rename(folder / "choir")
            await soon(
                lambda: moved(client, "sing", "mcptools:choir:post_message"), "the move", SAVED
            )
            (folder / "choir" / "post_message.py").unlink()
            await soon(lambda: empty(client), "the end", SAVED)

    async def moved(client, query, name):
        return await by_words(client, query) == [name]

    async def empty(client):
        return await census(client) == "The board is empty."

    asyncio.run(talk())
