"""Answers that go on: they end when whoever gets them has lost the right to, or when we stop."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pegboard.errors import NotAllowed, NotSignedIn, PegboardError
from pegboard.model.calls import Caller
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.news import Bell
from pegboard.serve.http.problems import Declined, problem
from pegboard.serve.http.signin import CHECKED_SECONDS

CHECK_SECONDS = 30.0
"""A token that has run out tells nobody."""
PAUSE_SECONDS = CHECKED_SECONDS + 0.1
"""Until a look at a token when the board has changed: what was found just before counts no more."""


async def revoked(gateway: Gateway, connection: HTTPConnection, caller: Caller) -> None:
    """Comes back when the connection is no longer this caller's."""
    bell = Bell()
    gateway.news.tell(bell.ring)
    try:
        while True:
            await bell.rung(CHECK_SECONDS)
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                if await gateway.sign_in.caller(connection) != caller:
                    return
            except NotAllowed:
                return
            except PegboardError:
                pass  # the board does not answer: that says nothing of the token
    finally:
        gateway.news.forget(bell.ring)


class Lasting:
    """An ASGI application that runs another one until it is over."""

    def __init__(
        self, app: ASGIApp, gateway: Gateway, caller: Caller, *, ends_at_stop: bool
    ) -> None:
        self._app = app
        self._gateway = gateway
        self._caller = caller
        self._ends_at_stop = ends_at_stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = _Sent(send)
        connection = HTTPConnection(scope)
        async with (
            _task(_run(self._app, scope, receive, sent)) as serving,
            _task(revoked(self._gateway, connection, self._caller)) as revoking,
            _task(self._gateway.stopping.wait()) as stopping,
        ):
            ends = {serving, revoking, *([stopping] if self._ends_at_stop else [])}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
                return
            gone = revoking.done()
        await sent.end(scope, receive, gone=gone)


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


@asynccontextmanager
async def _task(work: Coroutine[Any, Any, Any]) -> AsyncIterator["asyncio.Task[Any]"]:
    """Runs while inside; has ended afterwards, in whichever way."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # which is not of interest here


class _Sent:
    """What was sent of an answer, so that it can be brought to an end."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False
        self._over = False

    async def __call__(self, message: Message) -> None:
        self._begun = True
        self._over = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)

    async def end(self, scope: Scope, receive: Receive, *, gone: bool) -> None:
        if not self._begun:
            await _refusal(gone)(scope, receive, self._send)
        elif not self._over:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _refusal(gone: bool) -> Response:
    if gone:
        return problem(NotSignedIn("the token is no longer good"))
    stopping = Declined("stopping", "this gateway is about to stop", "try again in a moment")
    return stopping.response()
