"""`/events`: what changes on the board while somebody watches, as server-sent events.

What a caller is sent is compared with what the same caller was sent before, and both come from the
board as that caller sees it. So nothing is heard of what is hidden, not even that it has changed.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from typing import Annotated, NamedTuple

from pydantic import Field
from starlette.requests import HTTPConnection
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from pegboard.app.pegboard import Pegboard
from pegboard.board.curate.editing import etag
from pegboard.errors import ItemNotFound, PegboardError, TooMany
from pegboard.formats.plain import plain
from pegboard.model.calls import Caller
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.lasting import Lasting
from pegboard.serve.http.metrics import Family, gauge
from pegboard.serve.http.news import Bell
from pegboard.serve.http.table import Asked, Route, Wanted

MOST_OF_A_CALLER = 16
MOST = 1_000
MOST_ITEMS = 20
BEAT_SECONDS = 15.0
"""Between two signs of life, so that no proxy takes a stream for dead."""
PAUSE_SECONDS = 0.25
"""Between two looks at the board, at least."""
SHARE = 4
"""And at least so many times what a look takes: looking must not slow down what it looks at."""
IDLE_SECONDS = 15.0
WORKING_SECONDS = 1.0
"""How long nothing has to be heard for a look all the same: while texts wait, others may embed."""
MEDIA_TYPE = "text/event-stream"
RETRY = b"retry: 3000\n\n"
BEAT = b": still here\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Name = Annotated[str, Field(min_length=1, max_length=600)]


class EventsQuery(Wanted):
    item: Annotated[
        tuple[Name, ...],
        Field(max_length=MOST_ITEMS, description="Also tell of these items, by id or name."),
    ] = ()


class Stream:
    """One that listens. Of what waits to be sent, later news of the same replace earlier ones."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = items
        self._sent: dict[str, str] = {}
        self._waiting: dict[str, tuple[str, str]] = {}
        self._news = asyncio.Event()

    def offer(self, about: str, event: str, data: str, lasting: str | None = None) -> None:
        """Sent if it is another than before; of what changes with time alone, if `lasting` is."""
        counts = data if lasting is None else lasting
        if self._sent.get(about) != counts:
            self._sent[about] = counts
            self._waiting[about] = (event, data)
            self._news.set()

    async def frames(self) -> AsyncIterator[bytes]:
        yield RETRY
        while True:
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                yield BEAT
                continue
            self._news.clear()
            waiting, self._waiting = self._waiting, {}
            for event, data in waiting.values():
                yield f"event: {event}\ndata: {data}\n\n".encode()


class Events:
    """All streams, and the one task that looks at the board for them."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._streams: dict[Stream, Caller] = {}
        self._looking: asyncio.Task[None] | None = None
        self._bell: Bell | None = None
        gateway.measures.also(self._families)
        gateway.at_end.append(self.close)

    def check_room(self, caller: Caller) -> None:
        of_caller = Counter(self._streams.values())[caller]
        if of_caller >= MOST_OF_A_CALLER or len(self._streams) >= MOST:
            raise TooMany(
                f"{of_caller} streams of events are open for you already",
                "close some of them first",
            )

    def open(self, caller: Caller, items: Sequence[str]) -> Stream:
        stream = Stream(items)
        self._streams[stream] = caller
        if self._looking is None or self._looking.done():
            self._bell = Bell()
            self.gateway.news.tell(self._bell.ring)
            self._looking = asyncio.create_task(self._look_on(self._bell))
        elif self._bell is not None:
            self._bell.ring()
        return stream

    def leave(self, stream: Stream) -> None:
        self._streams.pop(stream, None)

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look_on(self, bell: Bell) -> None:
        """As long as anybody listens."""
        try:
            while self._streams:
                began = time.monotonic()
                working = await self._look()
                spent = time.monotonic() - began
                await asyncio.sleep(max(PAUSE_SECONDS, SHARE * spent))
                await bell.rung(WORKING_SECONDS if working else IDLE_SECONDS)
        finally:
            self.gateway.news.forget(bell.ring)

    async def _look(self) -> bool:
        """Whether there is work going on, as far as anybody sees it."""
        working = False
        for caller in set(self._streams.values()):
            mine = [stream for stream, its in self._streams.items() if its == caller]
            items = {item for stream in mine for item in stream.items}
            view = self.gateway.board_for(caller)
            try:
                status = await self.gateway.threads.run(partial(told_status, view))
                found = await self.gateway.threads.run(partial(told_items, view, items))
            except PegboardError:
                continue  # the board does not answer; the next look may find it well
            working = working or status.working
            for stream in mine:
                stream.offer("", "status", status.data, status.lasting)
                for item in stream.items:
                    stream.offer(item, "item", found[item])
        return working

    def _families(self) -> Iterable[Family]:
        yield gauge(
            "pegboard_event_streams", "Streams of events that are open.", len(self._streams)
        )


class Counted(NamedTuple):
    data: str
    lasting: str
    """The same but for what changes with time alone: else a look that is owed to a change which a
    caller does not see would be heard of."""
    working: bool


def told_status(board: Pegboard) -> Counted:
    """The counts as this board shows them."""
    found = board.status()
    trouble = found.model.startswith("unavailable:") and not board.caller.everywhere
    said = {
        "model": "unavailable" if trouble else found.model,
        "embeddings": found.embeddings,
        "building": found.building,
        "waiting": found.waiting,
        "pace": found.pace,
        "rejections": found.rejections,
        "changed": found.changed,
    }
    lasting = said | {"pace": found.pace.oldest_at}
    return Counted(_json(said), _json(lasting), bool(found.waiting))


def told_items(board: Pegboard, names: Iterable[str]) -> dict[str, str]:
    return {name: _json({"name": name, **told_item(board, name)}) for name in names}


def told_item(board: Pegboard, name: str) -> dict[str, object]:
    """What is shown beside an item while it is looked at; `gone` if it cannot be seen any more."""
    try:
        entry = board.curate.chosen(name)
    except ItemNotFound:
        return {"gone": True}
    embedding = entry.embedding
    return {
        "id": entry.item.id,
        "namespace": entry.item.namespace,
        "etag": etag(entry),
        "active": entry.active,
        "embedding": {
            "status": embedding.status,
            "model": embedding.model,
            "embedded_at": embedding.embedded_at,
            "error": embedding.error,
        },
    }


def _json(value: object) -> str:
    """On one line, as an event has to be."""
    return json.dumps(plain(value), ensure_ascii=True, separators=(",", ":"))


async def watch(asked: Asked) -> Response:
    said: EventsQuery = asked.query
    events = events_of(asked.request)
    for name in said.item:
        await asked.threads.run(partial(asked.board.curate.chosen, name))
    events.check_room(asked.caller)
    if asked.request.method == "HEAD":
        return Response(media_type=MEDIA_TYPE, headers=HEADERS)
    return Watching(events, asked.caller, said.item)


def events_of(request: HTTPConnection) -> Events:
    """Those of the application that was asked; made when they are first needed."""
    state = request.app.state
    if not hasattr(state, "events"):
        state.events = Events(state.gateway)
    found: Events = state.events
    return found


class Watching(Response):
    """Listens from when it is sent until that ends, in whichever way."""

    media_type = MEDIA_TYPE

    def __init__(self, events: Events, caller: Caller, items: Sequence[str]) -> None:
        super().__init__()
        self._events = events
        self._caller = caller
        self._items = items

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._events.open(self._caller, self._items)
        sent = StreamingResponse(stream.frames(), headers=HEADERS, media_type=MEDIA_TYPE)
        lasting = Lasting(sent, self._events.gateway, self._caller, ends_at_stop=True)
        try:
            await lasting(scope, receive, send)
        finally:
            self._events.leave(stream)


ROUTES = (
    Route(
        "GET",
        "/events",
        "events",
        "What changes while you watch: `status` and, where items are named, `item`.",
        watch,
        query=EventsQuery,
        answer={"type": "string"},
        media_type=MEDIA_TYPE,
    ),
)
