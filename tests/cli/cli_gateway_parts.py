"""A gateway in this process, on a real socket: a token is the name of who has it."""

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pegboard.app.pegboard import Pegboard
from pegboard.errors import NotSignedIn
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.app import make_app
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.mcp.face import make_face
from waiting import until

SECONDS = 30

CALLERS = {
    "": Caller("local", (), Role.ADMIN),
    "reader-token": Caller("rita", (), Role.READER),
    "author-token": Caller("art", ("public",), Role.AUTHOR),
}
"""Whoever shows no token is the board's owner, as where loopback is open."""


class ByName:
    async def caller(self, connection: HTTPConnection) -> Caller:
        token = connection.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in CALLERS:
            raise NotSignedIn("this token is not known")
        return CALLERS[token]


class Spoken:
    """The board's face at `/mcp`, for whoever may be let in."""

    def __init__(self, board: Pegboard) -> None:
        self._sessions = StreamableHTTPSessionManager(make_face(board).server)
        self.asked: list[dict[str, str]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append({k.decode(): v.decode() for k, v in scope["headers"]})
        await self._sessions.handle_request(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield


@contextmanager
def serving(board: Path | str, *, mcp: bool = False) -> Iterator[str]:
    """The board behind a gateway; its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    with Pegboard.open(str(board)) as pegboard:
        spoken = Spoken(pegboard)
        app = make_app(
            Gateway(pegboard, ByName()), more_routes=[Route("/mcp", spoken)] if mcp else []
        )
        if mcp:
            app.router.lifespan_context = spoken.lifespan
        how = "on" if mcp else "off"
        config = uvicorn.Config(app, log_level="critical", ws="none", lifespan=how)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            until(lambda: server.started)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(SECONDS)
            listening.close()
            assert not thread.is_alive()


TOOLS = {
    "tools/paper/shred/tool.yaml": """\
tool_id: shred
tool_type: bash
version: 1.2.0
description: Shred a sheet of paper, so that nobody can read it.
destructive: true
tags: [paper, office]
parameters:
  - {name: sheet, type: string, required: true}
executor_config: {entrypoint: run.sh}
""",
    "tools/paper/shred/run.sh": 'echo "shredded $ARG_SHEET"\n',
    "tools/paper/greet/tool.yaml": """\
tool_id: greet
tool_type: bash
description: Greet somebody by name.
parameters:
  - {name: name, type: string, required: true}
executor_config: {entrypoint: run.sh}
""",
    "tools/paper/greet/run.sh": 'echo "hello $ARG_NAME"; echo "on the way" >&2\n'
    'test "$ARG_NAME" != nobody\n',
    "tools/paper/draw/tool.yaml": """\
tool_id: draw
tool_type: bash
description: Draw a small picture.
executor_config: {entrypoint: run.sh}
""",
    "tools/paper/draw/run.sh": 'printf "\\377ink" > "$PEGBOARD_OUTPUT/small.bin"\n',
    "directives/ops/deploy.md": """\
# Deploy

```xml
<directive name="deploy" version="1.0.0">
  <metadata><description>Bring a release to the servers.</description></metadata>
  <inputs><input name="version" type="string" required="true">Which release.</input></inputs>
  <process><step name="go"><action>Use greet, then shred.</action></step></process>
</directive>
```
""",
    "knowledge/ops/rota.md": "---\ntitle: Rota\ntags: [people]\nlinks: [deploy, nowhere]\n---\n"
    "# Rota\n\nWho carries the pager, and what they get for it.\n",
    "tools/paper/broken/tool.yaml": "tool_id: broken\ntool_type: spell\n",
}


def write_tools(root: Path) -> Path:
    """A `.ai` folder with items of several kinds, one of which is refused."""
    for path, text in TOOLS.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root
