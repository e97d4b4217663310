"""What was sent to a session lately, for a client that lost its connection and comes back."""

from collections import OrderedDict

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

MOST_EVENTS = 200
MOST_LETTERS = 1_000_000
"""What is larger than this is not kept: whoever misses it has to ask again."""


class Resumable(EventStore):
    """For one session. The oldest goes for the newest."""

    def __init__(self) -> None:
        self._kept: OrderedDict[EventId, tuple[StreamId, JSONRPCMessage | None, int]]
        self._kept = OrderedDict()
        self._number = 0
        self._letters = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._number += 1
        event = str(self._number)
        size = len(message.model_dump_json(by_alias=True, exclude_unset=True)) if message else 0
        if size <= MOST_LETTERS:
            self._kept[event] = (stream_id, message, size)
            self._letters += size
        while len(self._kept) > MOST_EVENTS or self._letters > MOST_LETTERS:
            _, (_, _, gone) = self._kept.popitem(last=False)
            self._letters -= gone
        return event

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        """None for an event that is not known, or no longer."""
        if last_event_id not in self._kept:
            return None
        stream, last = self._kept[last_event_id][0], int(last_event_id)
        for event, (own, message, _) in list(self._kept.items()):
            if own == stream and int(event) > last and message is not None:
                await send_callback(EventMessage(message, event))
        return stream
