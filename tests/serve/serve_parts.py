"""Clients of both eras of the protocol, and a folder of tools."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp_types import CallToolResult

from pegboard.serve.mcp.face import Face

SECONDS = 20
"""More than anything here takes; a test that waits longer is stuck."""

TOOLS = {
    "mcptools/chat/post_message.py": "Send a message into a channel for colleagues to read.",
    "mcptools/chat/pin_message.py": "Pin an important message at the top of its channel.",
    "mcptools/mail/send_email.py": "Send an e-mail to one or more recipients.",
    "mcptools/payments/refund_payment.py": "Give a customer their money back.",
    "gentools/text/count_words/api.py": "Say how many words a text has.",
}


class Tools:
    """A folder of Python tools that a test can change."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, description: str, parameters: str = "text: str") -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'def run({parameters}):\n    """{description}"""\n', "utf-8")


@asynccontextmanager
async def connected(face: Face, era: str = "auto", **options: Any) -> AsyncIterator[Client]:
    """A client over messages in memory: everything but the pipe is as it is over stdio."""
    async with (
        asyncio.timeout(SECONDS),
        Client(InMemoryTransport(face.server), mode=era, **options) as client,
    ):
        yield client


def with_client(
    face: Face, work: Callable[[Client], Awaitable[Any]], era: str = "auto", **options: Any
) -> Any:
    async def run() -> Any:
        async with connected(face, era, **options) as client:
            return await work(client)

    return asyncio.run(run())


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")
