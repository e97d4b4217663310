"""A gateway on a real socket, whose every answer is held against its own OpenAPI document."""

import base64
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import pytest
import uvicorn
from jsonschema import Draft202012Validator
from starlette.requests import HTTPConnection

from pegboard.app.pegboard import Pegboard
from pegboard.board.publish.releasing import Parcel
from pegboard.errors import NotSignedIn
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.app import make_app
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.web.routes import web_routes
from waiting import until

SECONDS = 30
LONGEST_LINE = 4 << 20
"""Bytes: whatever the document allows in a query is to be judged by us."""

CALLERS = {
    "owner": Caller("olga", (), Role.ADMIN),
    "admin": Caller("ada", ("team",), Role.ADMIN),
    "author": Caller("mia", ("public", "team"), Role.AUTHOR),
    "reader": Caller("rob", ("team",), Role.READER),
}

PYTOOLS = {
    "mcptools/chat/post_message.py": "Send a message into a channel for colleagues to read.",
    "mcptools/chat/pin_message.py": "Pin an important message at the top of its channel.",
    "mcptools/mail/send_email.py": "Send an e-mail to one or more recipients.",
    "mcptools/payments/refund_payment.py": "Give a customer their money back.",
    "gentools/text/count_words/api.py": "Say how many words a text has.",
}
AI = {
    "tools/paper/shred/tool.yaml": """\
tool_id: shred
tool_type: bash
description: Shred a sheet of paper, so that nobody can read it.
destructive: true
tags: [paper]
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
    "tools/paper/greet/run.sh": 'echo "hello $ARG_NAME"; test "$ARG_NAME" != nobody\n',
    "tools/paper/wait/tool.yaml": """\
tool_id: wait
tool_type: bash
description: Wait until the end of the world.
executor_config: {entrypoint: run.sh}
""",
    "tools/paper/wait/run.sh": "sleep 98765\n",
    "tools/paper/draw/tool.yaml": """\
tool_id: draw
tool_type: bash
description: Draw a small picture and a large one.
executor_config: {entrypoint: run.sh}
""",
    "tools/paper/draw/run.sh": 'printf "\\377ink" > "$PEGBOARD_OUTPUT/small.bin"\n'
    'head -c 5000000 /dev/zero > "$PEGBOARD_OUTPUT/large.bin"\n',
    "directives/ops/deploy.md": """\
# Deploy

```xml
<directive name="deploy" version="1.0.0">
  <metadata>
    <description>Build the project and deploy it to staging.</description>
    <relationships><requires>greet</requires></relationships>
  </metadata>
  <inputs><input name="branch" type="string" required="true">Branch to deploy.</input></inputs>
  <process><step name="build"><action>Build {branch}.</action></step></process>
</directive>
```
""",
    "skills/release-notes/SKILL.md": """\
---
name: release-notes
description: Write release notes from the commits since the last tag.
tools: [greet]
---

Write them down.
""",
    "knowledge/retry.md": """\
---
id: retry
title: Retry with backoff
---

Wait longer after each failure, and give up in the end.
""",
}


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def code(self) -> str:
        return self.json["code"]


class ByName:
    """A token is the name of a role."""

    async def caller(self, connection: HTTPConnection) -> Caller:
        token = connection.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in CALLERS:
            raise NotSignedIn("a token is needed")
        return CALLERS[token]


class Served:
    """A gateway that serves, and a client of it for each role."""

    def __init__(self, board: Pegboard, port: int) -> None:
        self.board = board
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.met: set[tuple[str, str, int]] = set()
        """Method, path and status of what was answered so far."""
        self._document: Any = None

    @property
    def document(self) -> Any:
        if self._document is None:
            self._document = self.send("GET", "/openapi.json").json
        return self._document

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: str = "owner",
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """As `send`; what comes back has to be as the document says."""
        found = self.send(method, path, body, who=who, raw=raw, headers=headers)
        self._conforms(method, path, found)
        return found

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: str = "owner",
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        said = {"Authorization": f"Bearer {who}"} if who else {}
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
        if content is not None:
            said["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request(method, path, content, said | dict(headers or {}))
            answer = connection.getresponse()
            return Reply(
                answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
            )
        finally:
            connection.close()

    def _conforms(self, method: str, path: str, found: Reply) -> None:
        assert found.status < 500, found
        assert b"Traceback" not in found.content
        operation, place = self._operation(method, path)
        self.met.add((method, place, found.status))
        if operation is None or method == "HEAD":
            assert found.status in (204, 404, 405) or method == "HEAD"
            return
        said = operation["responses"]
        expected = said.get(str(found.status)) or (said["default"] if found.status >= 400 else None)
        assert expected is not None, f"{method} {place} says nothing of {found.status}"
        media = found.headers.get("content-type", "").partition(";")[0]
        if "content" not in expected:
            assert found.content == b""
            return
        known = {name.partition(";")[0]: each for name, each in expected["content"].items()}
        assert media in known, f"{method} {place} answered with {media}"
        schema = known[media]["schema"] | {
            "components": self.document["components"],
        }
        told = found.json if media.endswith("json") else found.content.decode("utf-8", "replace")
        Draft202012Validator(schema).validate(told)

    def _operation(self, method: str, path: str) -> tuple[Any, str]:
        """What the document says of this, by the longest path that fits."""
        plain = "/".join(quote(unquote(part)) for part in path.partition("?")[0].split("/"))
        for place in sorted(self.document["paths"], key=lambda each: -each.count("/")):
            if re.fullmatch(re.sub(r"\\\{\w+\\\}", ".+", re.escape(place)), plain):
                return self.document["paths"][place].get(method.lower()), place
        return None, ""


@contextmanager
def serving(board: Pegboard, *, page: bool = False) -> Iterator[Served]:
    """The board, if wanted with its page, behind a gateway of this process on a port of its own."""
    # Without its protocol a socket waits for more to send, 40 ms with every answer.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    gateway = Gateway(board, ByName())
    app = make_app(gateway, more_routes=web_routes(gateway) if page else ())
    config = uvicorn.Config(
        app,
        log_level="critical",
        ws="none",
        lifespan="off",
        h11_max_incomplete_event_size=LONGEST_LINE,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield Served(board, listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        listening.close()
        assert not thread.is_alive()


def write_tools(root: Path, *, but: str = "-") -> tuple[Path, Path]:
    """A folder of Python tools, and one of items of every kind, but for one of these."""
    plain, mixed = root / "tools", root / "project" / ".ai"
    for path, description in PYTOOLS.items():
        file = plain / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'def run(text: str):\n    """{description}"""\n    return len(text)\n')
    for path, text in AI.items():
        if f"/{but}/" in path:
            continue
        file = mixed / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return plain, mixed


def settle_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Settings under which everything is shown, whatever it scores."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    monkeypatch.setenv("PEGBOARD_RUN_LOOPBACK", "on")


def body_of(parcel: Parcel, **more: Any) -> dict[str, Any]:
    return {
        "bundle": base64.b64encode(parcel.bundle).decode(),
        "signature": parcel.side_file.decode(),
        **more,
    }


def published(api: Served, parcel: Parcel, who: str = "author", **more: Any) -> Reply:
    return api.ask("POST", "/releases", body_of(parcel, **more), who=who)


def encoded(name: str) -> str:
    found = quote(name, safe="")
    assert unquote(found) == name
    return found
