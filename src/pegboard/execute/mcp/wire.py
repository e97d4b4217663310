"""What a server wrote, before the SDK has judged it."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import anyio
import anyio.abc
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId, Result, methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

_AS_WRITTEN = "pegboard/as-written"
_STAND_IN: Mapping[str, object] = {
    "content": [],
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}
"""Passes as an empty result of either method, in every version of the protocol."""


class FaithfulDispatcher(JSONRPCDispatcher[TransportContext]):
    """Keeps results about tools from the SDK, which refuses a whole page for one wrong tool.

    The SDK is given a stand-in that it accepts; `take` gives what the server wrote for it.
    """

    def __init__(
        self,
        read: ReadStream[SessionMessage | Exception],
        write: WriteStream[SessionMessage],
    ) -> None:
        super().__init__(read, write)
        self.ended = anyio.Event()
        """Set when the server can no longer be heard."""
        self._written: dict[int, dict[str, Any]] = {}
        self._numbers = count()

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            await super().run(on_request, on_notify, on_notify_intercept, task_status=task_status)
        finally:
            self.ended.set()

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: RequestId | None = None,
    ) -> dict[str, Any]:
        written = await super().send_raw_request(
            method, params, opts, _related_request_id=_related_request_id
        )
        if method not in ("tools/list", "tools/call"):
            return written
        number = next(self._numbers)
        self._written[number] = written
        version = (opts or {}).get("headers", {}).get(MCP_PROTOCOL_VERSION_HEADER, "")
        tools = _sound(written.get("tools"), version)
        return {**_STAND_IN, "tools": tools, "_meta": {_AS_WRITTEN: number}}

    def take(self, result: Result) -> dict[str, Any]:
        """What the server wrote in place of this result."""
        return self._written.pop((result.meta or {})[_AS_WRITTEN])


def _sound(tools: object, version: str) -> list[object]:
    """The tools that the SDK should know of: the newer protocol repeats arguments in headers."""
    if version not in MODERN_PROTOCOL_VERSIONS or not isinstance(tools, list):
        return []
    return [tool for tool in tools if _is_sound(tool, version)]


def _is_sound(tool: object, version: str) -> bool:
    try:
        methods.validate_server_result("tools/list", version, {**_STAND_IN, "tools": [tool]})
    except ValidationError:
        return False
    return True
