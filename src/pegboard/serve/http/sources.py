"""Where items come from: the sources, and adding one that is found by its address.

Folders and commands are added on the gateway's machine alone: whoever may name them here could read
its files and start programs there.
"""

from collections.abc import Mapping
from functools import partial
from http import HTTPMethod
from typing import Annotated, Literal, NamedTuple
from urllib.parse import quote, urlsplit

import httpcore2
from pydantic import Field
from starlette.responses import Response

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.filling import Outcome
from pegboard.board.sync.one_source import SyncReport
from pegboard.config.settings import RunSettings
from pegboard.errors import ItemNotFound, NotAllowed, PegboardError, SourceError, UsageError
from pegboard.execute.api.addresses import Guard, Reach
from pegboard.execute.api.faults import Refused
from pegboard.model.calls import Health, Role, Transport
from pegboard.model.items import DEFAULT_NAMESPACE, SourceRecord
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.items import in_thread
from pegboard.serve.http.problems import Declined
from pegboard.serve.http.replies import reply
from pegboard.serve.http.rights import need_everywhere, need_source
from pegboard.serve.http.shapes import Record, Several, fields_of
from pegboard.serve.http.table import Asked, Flag, Route, Wanted
from pegboard.sources.mcp import config as mcp_config

GROUP = "sources"
LOCAL = ("folder", "command")


class ServerHealth(NamedTuple):
    """How an MCP server stood when it was last asked."""

    health: Health
    error: str
    tools: int
    checked_at: float | None
    enabled: bool


SOURCE = Record(
    "Source",
    {**fields_of(SourceRecord), "server": ServerHealth | None, "sync": SyncReport | None},
    optional=frozenset({"sync"}),
)
SOURCES = Record("Sources", {"sources": Several(SOURCE)})


class SourceBody(Wanted):
    kind: Annotated[
        Literal["openapi", "lightapi", "mcp", "folder", "command"],
        Field(description="openapi, lightapi or mcp; the others are refused, with the reason."),
    ]
    url: Annotated[str, Field(max_length=2_000, description="http:// or https://")]
    name: Annotated[
        str | None, Field(max_length=63, description="Default: after the host; needed for mcp.")
    ] = None
    namespace: Annotated[str, Field(max_length=200, description="Where its items hang.")] = (
        DEFAULT_NAMESPACE
    )
    transport: Annotated[
        Literal["http", "sse"] | None, Field(description="Of an MCP server, if it is known.")
    ] = None
    sync: Annotated[Flag, Field(description="Read at once what it has.")] = True


class SyncBody(Wanted):
    full: Annotated[Flag, Field(description="Read and write everything again, changed or not.")] = (
        False
    )


def get_sources(asked: Asked) -> Response:
    servers = _servers(asked.board)
    return reply({"sources": [_told(each, servers) for each in asked.board.sources()]})


def _servers(board: Pegboard) -> dict[str, ServerHealth]:
    return {
        each.config.name: ServerHealth(
            each.state.health,
            each.state.error,
            each.state.tools,
            each.state.checked_at,
            each.config.enabled,
        )
        for each in board.servers()
    }


def _told(record: SourceRecord, servers: Mapping[str, ServerHealth]) -> dict[str, object]:
    return record._asdict() | {"server": servers.get(record.name)}


async def add_source(asked: Asked) -> Response:
    need_everywhere(asked.caller)
    said: SourceBody = asked.body
    if said.kind in LOCAL:
        raise NotAllowed(
            f"a {said.kind} is not added over HTTP: whoever can name one could read files of the "
            "gateway's machine, and start programs there",
            "add it on that machine, with: pegboard add",
        )
    await _refuse_address(said.url, asked.board.settings.run)
    return await asked.threads.run_to_end(partial(_add, asked.board, said))


async def _refuse_address(url: str, settings: RunSettings) -> None:
    """An address that is not public is asked only if tools may call it too."""
    if "${" in url:
        raise UsageError(
            "the url refers to a variable of the gateway's machine",
            "add such a source on that machine, with: pegboard add",
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 0
    except ValueError as error:
        raise UsageError(f"{url[:200]!r} is no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{url[:200]!r} is no URL", "it takes http:// or https://")
    try:
        await Guard(_reach(settings)).allowed(host, port)
    except Refused as refused:
        raise NotAllowed(refused.error) from refused
    except httpcore2.ConnectError as error:
        raise UsageError(str(error)) from error


def _reach(settings: RunSettings) -> Reach:
    """As far as api tools may go."""
    return Reach(settings.loopback == "on", settings.private_hosts)


def _add(board: Pegboard, said: SourceBody) -> Response:
    try:
        name = _add_server(board, said) if said.kind == "mcp" else _add_document(board, said)
        outcome = board.sync([name], embed=False) if said.sync else None
    except SourceError as error:
        raise Declined("refused", error.message, _hint(error, said.kind)) from error
    except UsageError as error:
        raise UsageError(error.message, _hint(error, said.kind)) from error
    record = next(each for each in board.sources() if each.name == name)
    reports = outcome.sources if outcome else []
    told = _told(record, _servers(board)) | {"sync": reports[0] if reports else None}
    return reply(told, 201, {"Location": f"/sources/{quote(name, safe='')}"})


def _hint(error: PegboardError, kind: str) -> str:
    """What to do next, for somebody who has no options of a command."""
    if "--header" not in error.hint:
        return error.hint
    return (
        "check the address; what needs a login is added on the gateway's machine, with: "
        f"pegboard add {kind} --header"
    )


def _add_document(board: Pegboard, said: SourceBody) -> str:
    address = said.url.partition("#")[0]  # what stands behind it would be headers
    return board.add_source(said.kind, address, name=said.name, namespace=said.namespace).name


def _add_server(board: Pegboard, said: SourceBody) -> str:
    if not said.name:
        raise UsageError("name is missing; an MCP server needs one")
    transport = Transport(said.transport) if said.transport else None
    config = mcp_config.from_url(said.name, said.url, transport=transport)
    if any(each.config.name == config.name and not each.config.url for each in board.servers()):
        raise UsageError(f"{config.name!r} is already a server", "give this one another name")
    board.add_servers([config._replace(namespace=said.namespace)])
    return config.name


def _named(asked: Asked) -> SourceRecord:
    """The source that the path names, if it is for whoever asks to decide about it."""
    name = asked.path["name"]
    record = next((each for each in asked.board.sources() if each.name == name), None)
    if record is None:
        raise ItemNotFound(f"there is no source {name!r} on this board", "see /sources")
    need_source(asked.caller, record)
    return record


def remove_source(asked: Asked) -> Response:
    asked.board.remove_source(_named(asked).name)
    return Response(status_code=204)


def reading(record: SourceRecord) -> str:
    """What reading a source is called as work that goes on."""
    return f"reading source {record.name}"


async def sync_source(asked: Asked) -> Response:
    record = await asked.threads.run(partial(_named, asked))
    sync = partial(asked.board.sync, [record.name], full=asked.body.full, embed=False)
    gateway: Gateway = asked.request.app.state.gateway
    return reply(await gateway.jobs.alone(reading(record), sync))


ROUTES = (
    Route(
        "GET",
        "/sources",
        "list_sources",
        "Where items come from, and how the servers among these are.",
        in_thread(get_sources),
        answer=SOURCES,
        group=GROUP,
    ),
    Route(
        "POST",
        "/sources",
        "add_source",
        "Add a service by the address of its document, or an MCP server by its own.",
        add_source,
        role=Role.ADMIN,
        body=SourceBody,
        answer=SOURCE,
        statuses=(201,),
        group=GROUP,
        problems=(422,),
    ),
    Route(
        HTTPMethod.DELETE,
        "/sources/{name}",
        "remove_source",
        "Remove a source, and everything that came from it.",
        in_thread(remove_source),
        role=Role.ADMIN,
        statuses=(204,),
        group=GROUP,
    ),
    Route(
        "POST",
        "/sources/{name}/sync",
        "sync_source",
        "Bring the board up to date with a source.",
        sync_source,
        role=Role.ADMIN,
        body=SyncBody,
        answer=Outcome,
        group=GROUP,
    ),
)
