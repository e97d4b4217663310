"""Where items come from, and how the servers among these are."""

from collections import Counter
from functools import partial
from typing import NamedTuple

from starlette.responses import Response

from pegboard.errors import ItemNotFound
from pegboard.model.calls import Health, Server
from pegboard.model.items import SourceRecord
from pegboard.serve.http.rights import need_source
from pegboard.serve.http.sources import reading
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import with_query
from pegboard.serve.web.visits import Visit, page, sent_on

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


async def act(visit: Visit) -> Response:
    """Read a source again, while whoever asked goes on."""
    record = await visit.gateway.threads.run(partial(_chosen, visit))
    sync = partial(visit.board.sync, [record.name], embed=False)
    visit.gateway.jobs.begin(reading(record), sync)
    return sent_on("/ui/sources", ("done", "reading"))


def _chosen(visit: Visit) -> SourceRecord:
    """The source that the form names, if it is for whoever asks to decide about it."""
    name = visit.form.text("name")
    record = next((each for each in visit.board.sources() if each.name == name), None)
    if record is None:
        raise ItemNotFound(f"there is no source {name!r} on this board")
    need_source(visit.caller, record)
    return record
