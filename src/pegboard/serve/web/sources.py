"""Where items come from, and how the servers among these are."""

import logging
from collections import Counter
from functools import partial
from typing import NamedTuple

from starlette.background import BackgroundTask
from starlette.responses import Response

from pegboard.errors import ItemNotFound, PegboardError
from pegboard.model.calls import Health, Server
from pegboard.model.items import SourceRecord
from pegboard.serve.http.rights import need_source
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import with_query
from pegboard.serve.web.visits import Visit, page, sent_on

log = logging.getLogger(__name__)

TONES = {Health.LIVE: "good", Health.DOWN: "bad", Health.UNKNOWN: ""}
DONE = {"reading": "It is being read again. What is new is here in a moment."}


class SourceView(NamedTuple):
    name: str
    kind: str
    location: str
    namespace: str
    synced: Moment | None
    health: str
    tone: str
    error: str
    tools: int | None
    checked: Moment | None
    refused: int
    refused_path: str
    may_sync: bool


def show(visit: Visit) -> Response:
    servers = {each.config.name: each for each in visit.board.servers()}
    refused = Counter(each.source for each in visit.board.rejections())
    found = tuple(
        _view(visit, record, servers.get(record.name), refused[record.name])
        for record in visit.board.sources()
    )
    done = DONE.get(visit.query.get("done", ""), "")
    return page(
        visit, "sources.html", "sources", sources=found, done=done, all=visit.caller.everywhere
    )


def _view(visit: Visit, record: SourceRecord, server: Server | None, refused: int) -> SourceView:
    health, tone = ("read", "good") if record.synced_at else ("never read", "warn")
    if server is not None:
        off = not server.config.enabled
        health = "switched off" if off else server.state.health.value
        tone = "warn" if off else TONES[server.state.health]
    return SourceView(
        record.name,
        record.kind,
        record.location,
        record.namespace,
        moment(record.synced_at),
        health,
        tone,
        server.state.error if server else "",
        server.state.tools if server else None,
        moment(server.state.checked_at) if server else None,
        refused,
        with_query("/ui/rejections", [("source", record.name)]),
        visit.caller.may_decide(record.namespace, ""),
    )


def act(visit: Visit) -> Response:
    """Read a source again, while whoever asked goes on."""
    name = visit.form.text("name")
    record = next((each for each in visit.board.sources() if each.name == name), None)
    if record is None:
        raise ItemNotFound(f"there is no source {name!r} on this board")
    need_source(visit.caller, record)
    answer = sent_on("/ui/sources", ("done", "reading"))
    answer.background = BackgroundTask(_read, visit, record.name)
    return answer


async def _read(visit: Visit, name: str) -> None:
    sync = partial(visit.board.sync, [name], embed=False)
    try:
        await visit.gateway.threads.run_to_end(sync)
    except PegboardError as error:
        log.warning("source %s was not read: %s", name, error.message)
