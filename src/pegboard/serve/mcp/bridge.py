"""A gateway's MCP server for a client that starts a program: every message is carried on.

What the client says is sent to the gateway's `/mcp` with the token that the client need not know,
and what the gateway says comes back as it is. Over HTTP, headers repeat some of what a message
says; over standard input there are none, and so they are made here.
"""

import logging
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    PROTOCOL_VERSION_META_KEY,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from pegboard.config.gateway import GatewayPlace
from pegboard.remote.connection import CONNECT_SECONDS, LARGEST, client_options
from pegboard.remote.running import LONGEST_CALL, ON_THE_WAY
from pegboard.serve.mcp.stdio import over_stdio

log = logging.getLogger(__name__)

Reading = MemoryObjectReceiveStream[SessionMessage | Exception]
Writing = MemoryObjectSendStream[SessionMessage]


def run_bridge(place: GatewayPlace) -> None:
    """Until the client ends, or SIGTERM or SIGINT comes. Call `end_process` then."""
    anyio.run(over_stdio, Bridge(place).serve)


class Bridge:
    def __init__(self, place: GatewayPlace) -> None:
        self._place = place
        self._version = ""
        """Of the protocol, once both sides have agreed on it."""
        self._agreeing: RequestId | None = None

    async def serve(self, read: Reading, write: Writing) -> None:
        timeout = httpx2.Timeout(LONGEST_CALL + ON_THE_WAY, connect=CONNECT_SECONDS)
        token = self._place.token
        client = httpx2.AsyncClient(
            **client_options(self._place),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=timeout,
        )
        there = streamable_http_client(
            f"{self._place.address}/mcp", http_client=client, max_sse_event_size=LARGEST
        )
        async with (
            client,
            there as (answers, requests),
            read,
            write,
            anyio.create_task_group() as both,
        ):
            both.start_soon(self._bring_back, answers, write)
            async for message in read:
                if isinstance(message, SessionMessage):
                    self._note_agreeing(message)
                    headers = self._headers(message)
                    metadata = ClientMessageMetadata(headers=headers) if headers else None
                    await requests.send(SessionMessage(message.message, metadata))
            both.cancel_scope.cancel()

    async def _bring_back(self, answers: Any, write: Writing) -> None:  # noqa: ANN401 (the SDK's)
        async for message in answers:
            if isinstance(message, SessionMessage):
                self._note_agreed(message)
                await write.send(message)
            else:
                log.warning("the gateway says what is no message: %s", message)

    def _note_agreeing(self, message: SessionMessage) -> None:
        if isinstance(message.message, JSONRPCRequest) and message.message.method == "initialize":
            self._agreeing, self._version = message.message.id, ""

    def _note_agreed(self, message: SessionMessage) -> None:
        said = message.message
        if isinstance(said, JSONRPCResponse) and said.id == self._agreeing:
            self._version = str(said.result.get("protocolVersion", ""))
            self._agreeing = None

    def _headers(self, message: SessionMessage) -> dict[str, str]:
        said = message.message
        if not isinstance(said, JSONRPCRequest | JSONRPCNotification):
            return {}
        params = said.params or {}
        own = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(own, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        headers = {
            MCP_PROTOCOL_VERSION_HEADER: encode_header_value(own),
            MCP_METHOD_HEADER: encode_header_value(said.method),
        }
        named = params.get(NAME_BEARING_METHODS.get(said.method, ""))
        if isinstance(named, str):
            headers[MCP_NAME_HEADER] = encode_header_value(named)
        return headers
