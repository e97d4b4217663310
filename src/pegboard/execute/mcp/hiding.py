"""Secrets kept out of messages, and out of what the libraries log, such as addresses."""

import logging

from pegboard.execute.redaction import redacted

LOGGERS = (
    "client",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "mcp.client.sse",
    "mcp.client.streamable_http",
    "mcp.shared.jsonrpc_dispatcher",
    "pegboard.execute.mcp.connection",
    "pegboard.execute.mcp.pipes",
    "pegboard.execute.mcp.session",
    "pegboard.execute.mcp.telling",
)
_PLAIN = logging.Formatter()


def _of_note(record: logging.LogRecord) -> bool:
    """Not that a child ended after the loop that started it: at the end, all of them do."""
    return "that handles pid" not in record.getMessage()


class Hiding(logging.Filter):
    """All secrets of all servers, which become known as servers start."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: frozenset[str] = frozenset()

    def learn(self, secrets: frozenset[str]) -> None:
        self._secrets |= secrets

    def hide(self, text: str) -> str:
        return redacted(text, self._secrets)

    def filter(self, record: logging.LogRecord) -> bool:
        if self._secrets:
            record.msg, record.args = self.hide(record.getMessage()), None
            if record.exc_info and record.exc_info[0] is not None:
                record.exc_text = self.hide(_PLAIN.formatException(record.exc_info))
        return True

    def install(self) -> None:
        logging.getLogger("asyncio").addFilter(_of_note)
        for name in LOGGERS:
            logging.getLogger(name).addFilter(self)

    def remove(self) -> None:
        for name in LOGGERS:
            logging.getLogger(name).removeFilter(self)
