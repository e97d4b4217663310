"""Clients hear when what they see of the board has changed, and only then."""

import asyncio
import threading

import pytest
from mcp_types import ToolListChangedNotification
from serve_parts import SECONDS, connected

from making import make_item
from pegboard.serve.mcp import changes


class Heard:
    """What a client hears of changes, in whichever way its era has for that."""

    def __init__(self) -> None:
        self.times = 0
        self.news = asyncio.Event()

    def hear(self) -> None:
        self.times += 1
        self.news.set()

    async def message(self, message) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.hear()

    async def listen(self, client, listening: asyncio.Event) -> None:
        async with client.listen(tools_list_changed=True) as subscription:
            listening.set()
            async for _ in subscription:
                self.hear()


class Hearing:
    """A connected client that listens."""

    def __init__(self, face, era):
        self.face, self.era, self.heard = face, era, Heard()

    async def __aenter__(self):
        handler = {"message_handler": self.heard.message} if self.era == "legacy" else {}
        self._connection = connected(self.face, self.era, **handler)
        client = await self._connection.__aenter__()
        self._task = None
        if self.era == "auto":
            listening = asyncio.Event()
            self._task = asyncio.create_task(self.heard.listen(client, listening))
            await listening.wait()
        await client.list_tools()
        return self.heard

    async def __aexit__(self, *error):
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        return await self._connection.__aexit__(*error)


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr(changes, "PAUSE_SECONDS", 0.0)


def add(board, name):
    board.store.items.put([make_item(name, category=name)], None)


def test_a_client_hears_of_a_change_that_comes_from_another_thread(board, face, era, no_pause):
    async def run():
        async with Hearing(face, era) as heard:
            for name in ("weather", "traffic"):
                heard.news.clear()
                add(board, name)
                thread = threading.Thread(target=face.board_changed)
                thread.start()
                await asyncio.wait_for(heard.news.wait(), SECONDS)
                thread.join(SECONDS)
            return heard.times

    assert asyncio.run(run()) == 2


def test_what_changes_nothing_that_is_shown_is_not_heard_of(board, face, era, no_pause):
    """The change that is seen after the others comes after them, so nothing is missed."""

    async def run():
        async with Hearing(face, era) as heard:
            for _ in range(5):
                face.board_changed()
                await asyncio.to_thread(board.census)
            add(board, "weather")
            face.board_changed()
            await asyncio.wait_for(heard.news.wait(), SECONDS)
            return heard.times

    assert asyncio.run(run()) == 1


def test_a_burst_of_changes_is_heard_of_a_few_times_at_most(board, face, era):
    async def run():
        async with Hearing(face, era) as heard:
            for n in range(50):
                add(board, f"category-{n}")
                face.board_changed()
            await asyncio.wait_for(heard.news.wait(), SECONDS)
            return heard.times

    assert asyncio.run(run()) == 1


def test_every_client_hears_it(board, face, no_pause):
    async def run():
        async with Hearing(face, "auto") as one, Hearing(face, "legacy") as other:
            add(board, "weather")
            face.board_changed()
            for heard in (one, other):
                await asyncio.wait_for(heard.news.wait(), SECONDS)

    asyncio.run(run())


def test_when_nobody_is_connected_nothing_happens(face):
    face.board_changed()


def test_after_the_clients_have_gone_nothing_is_kept(board, face, era):
    async def run():
        async with Hearing(face, era):
            assert face._changes._following
        face.board_changed()
        return set(face._changes._following)

    assert asyncio.run(run()) == set()
    face.board_changed()
