"""A board behind a gateway, with the methods that commands use of one that is here."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPMethod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pegboard.board.curate.changes import Told
from pegboard.board.find.patience import Patience
from pegboard.board.maintain.filling import Outcome
from pegboard.board.maintain.status import Status
from pegboard.board.sync.source_kinds import yielding
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.errors import ItemNotFound, UsageError
from pegboard.model.answers import Answer, RequestHits
from pegboard.model.calls import Asker, CensusLine, OnProgress, ServerConfig, Transport
from pegboard.model.content import Json
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    EmbeddingCounts,
    Entry,
    Filters,
    SourceRecord,
    qualified,
)
from pegboard.model.runs import Run
from pegboard.ports.stages import Progress, quiet
from pegboard.remote.asking import Gateway, in_path, of_item
from pegboard.remote.connection import Connection, Request
from pegboard.remote.faults import error_of
from pegboard.remote.health import Examined, examined
from pegboard.remote.items import RemoteCurating
from pegboard.remote.running import RemoteCall
from pegboard.search.query import MAX_CHARACTERS
from pegboard.search.requests import split_requests

if TYPE_CHECKING:
    from pegboard.board.create.drafts import Draft
    from pegboard.board.create.making import Created
    from pegboard.remote.releasing import RemoteReleasing

LATE = "took_too_long"
"""The code of a search that was not done in time; it has what was found by then."""
SYNC_SECONDS = 3_600.0
SHORTEST = 0.01
"""Seconds; less would be none at all."""
EMBEDS_ITSELF = "the gateway embeds what waits; see how far it is: pegboard status"

ASKED_BY = {
    "kinds": "kind",
    "sources": "source",
    "categories": "category",
    "tags": "tag",
    "tool_types": "type",
    "namespaces": "namespace",
    "authors": "author",
    "protocols": "protocol",
    "domains": "domain",
    "semantic_namespaces": "semantic_namespace",
    "sensitivity_tiers": "sensitivity",
    "personas": "persona",
    "skills": "skill",
    "linked": "linked",
}
"""What a gateway calls each filter."""
STATES = {True: "active", False: "inactive", None: "all"}


class Queued(NamedTuple):
    queued: int


class Approved(NamedTuple):
    approved: int


class Filled(NamedTuple):
    """How far the items are on the way to their vectors."""

    waiting: int
    embeddings: EmbeddingCounts
    running: bool = False


class RemoteBoard:
    def __init__(self, place: GatewayPlace, settings: Settings) -> None:
        reached = replace(settings.serve, public_url=place.address)
        self.settings = replace(settings, serve=reached)
        """Those of whoever asks. How the board is searched is set at the gateway."""
        self.gateway = Gateway(Connection(place))
        self.curate = RemoteCurating(self.gateway)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self.gateway.connection.close()

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        filters: Filters | None = None,
        threshold: float | None = None,
        diverse: bool = False,
        explain: bool = False,
        executable: bool = False,
        model: str | None = None,
        patience: Patience | None = None,
        split: bool = True,
    ) -> Answer:
        if model is not None:
            raise UsageError(
                "--model is for a board here: a gateway has its own, and searches by that",
                "leave --model out",
            )
        if not query:
            return Answer(hits=(), notices=("the query is empty",))
        said = {
            "query": query,
            "mode": mode,
            "limit": self.settings.search.limit if limit is None else limit,
            "threshold": threshold,
            "diverse": diverse,
            "explain": explain,
            "executable": executable,
            **_filters(filters or Filters()),
        }
        body = {name: value for name, value in said.items() if value not in (None, False, [])}
        # A gateway that splits no questions does not know the field, so it is sent only if needed.
        if split or len(split_requests(query[:MAX_CHARACTERS])) == 1:
            return self._searched(body, patience)
        try:
            return self._searched(body | {"split": False}, patience)
        except UsageError:
            return self._searched(body, patience)

    def _searched(self, body: Mapping[str, object], patience: Patience | None) -> Answer:
        request = Request("POST", "/search", body=body, taken=(LATE,))
        if patience is not None:
            request = request._replace(seconds=max(patience.left, SHORTEST))
        found = self.gateway.ask(request)
        if not found.code:
            return self._answer(found.value)
        if "answer" not in found.value:
            raise error_of(504, found.value)
        answer = self._answer(found.value["answer"])
        return answer._replace(notices=(*answer.notices, str(found.value.get("detail", LATE))))

    def _answer(self, value: object) -> Answer:
        """Decode an answer, with its requests rebuilt from the ids of their hits."""
        if not isinstance(value, dict) or "requests" not in value:
            return self.gateway.value(Answer, value)
        whole = {name: each for name, each in value.items() if name != "requests"}
        answer = self.gateway.value(Answer, whole)
        hits = {qualified(hit.namespace, hit.id): hit for hit in answer.hits}
        requests = self.gateway.listed(RequestHits, value, "requests")
        return answer._replace(requests=tuple(each.answer_from(hits) for each in requests))

    def show(self, name: str) -> Entry:
        return self.curate.chosen(name)

    def census(self) -> list[CensusLine]:
        return self.gateway.listed(CensusLine, self.gateway.get("/categories"), "categories")

    def prepare_call(
        self,
        name: str,
        arguments: Json,
        *,
        timeout_seconds: float | None = None,
        on_progress: OnProgress | None = None,
        asker: Asker | None = None,
    ) -> RemoteCall:
        """Nothing is told on the way, and who calls is who the token is of."""
        return RemoteCall(self.gateway, name, arguments, timeout_seconds)

    def runs(self, name: str | None = None, limit: int = 20) -> Sequence[Run]:
        path = "/runs" if name is None else of_item(name, "/runs")
        return self.gateway.listed(Run, self.gateway.get(path, ("limit", limit)), "runs")

    def create(
        self, draft: "Draft", *, anyway: bool = False, try_with: Json | None = None
    ) -> "Created":
        from pegboard.remote.making import create  # with it comes what reads manifests

        return create(self.gateway, draft, anyway=anyway, try_with=try_with)

    @property
    def releases(self) -> "RemoteReleasing":
        """What is published there."""
        from pegboard.remote.releasing import RemoteReleasing  # with it comes what reads bundles

        return RemoteReleasing(self.gateway)

    def sources(self) -> list[SourceRecord]:
        return self.gateway.listed(SourceRecord, self.gateway.get("/sources"), "sources")

    def add_source(
        self, kind: str, location: str, *, name: str | None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        address, _, headers = location.partition("#")
        if headers:
            raise UsageError(
                "--header is for a board here: what it says would be looked up at the gateway",
                "add the source where the board is, with --board",
            )
        return self._added({"kind": kind, "url": address, "name": name, "namespace": namespace})

    def add_servers(self, configs: Sequence[ServerConfig]) -> None:
        for each in configs:
            _refuse_local(each)
        for each in configs:
            said = {"kind": "mcp", "url": each.url, "name": each.name}
            self._added({**said, "namespace": each.namespace, "transport": each.transport.value})

    def _added(self, said: Mapping[str, object]) -> SourceRecord:
        if not str(said["url"]).startswith(("http://", "https://")):
            raise UsageError(
                f"{said['url']!r} is a file here, and a gateway reads none of yours",
                "give a URL, or add it where the board is, with --board",
            )
        body = {name: value for name, value in said.items() if value is not None}
        request = Request("POST", "/sources", body=body | {"sync": False}, seconds=SYNC_SECONDS)
        return self.gateway.value(SourceRecord, self.gateway.ask(request).value)

    def remove_source(self, name: str) -> None:
        try:
            self.gateway.ask(Request(HTTPMethod.DELETE, f"/sources/{in_path(name)}"))
        except ItemNotFound:
            raise self._no_source(name) from None

    def _no_source(self, name: str) -> UsageError:
        known = ", ".join(record.name for record in self.sources()) or "none"
        return UsageError(f"there is no source {name!r} on this board", f"known: {known}")

    def sync(
        self,
        names: Sequence[str] = (),
        *,
        full: bool = False,
        embed: bool = True,
        progress: Progress = quiet,
        stop: threading.Event | None = None,
    ) -> Outcome:
        """One source after the other. What is new is embedded by the gateway, in its own time."""
        chosen, outcome = self._chosen(names), Outcome()
        for done, each in enumerate(chosen):
            progress("sources", done, len(chosen))
            if stop is not None and stop.is_set():
                break
            path = f"/sources/{in_path(each)}/sync"
            request = Request("POST", path, body={"full": full}, seconds=SYNC_SECONDS)
            told = self.gateway.value(Outcome, self.gateway.ask(request).value)
            outcome.sources += told.sources
            outcome.notices += [note for note in told.notices if note not in outcome.notices]
            outcome.waiting = told.waiting
        if embed and outcome.waiting:
            outcome.notices.append(EMBEDS_ITSELF)
        return outcome

    def _chosen(self, names: Sequence[str]) -> list[str]:
        """Those with these names, or all that can be read; last those that yield to others."""
        records = self.sources()
        known = {record.name for record in records}
        if unknown := [name for name in names if name not in known]:
            raise self._no_source(unknown[0])
        off = set() if names else set(self.status().switched_off)
        asked = [each.name for each in records if each.name in (names or known - off)]
        return sorted(asked, key=yielding(records).__contains__)

    def backfill(
        self, *, progress: Progress = quiet, stop: threading.Event | None = None, embed: bool = True
    ) -> Outcome:
        """Queue whatever has no vector; the gateway embeds it."""
        found = self.gateway.value(Filled, self.gateway.post("/backfill"))
        notes = [EMBEDS_ITSELF] if embed and (found.waiting or found.running) else []
        return Outcome(waiting=found.waiting, notices=notes)

    def retry(self, name: str | None) -> int:
        return self._queued(name, "/retry")

    def refresh(self, name: str | None, *, progress: Progress = quiet) -> int:
        return self._queued(name, "/refresh")

    def _queued(self, name: str | None, what: str) -> int:
        found = self.gateway.post(what if name is None else of_item(name, what))
        return self.gateway.value(Queued, found).queued

    def status(self) -> Status:
        return self.gateway.value(Status, self.gateway.get("/status"))

    def examined(self) -> Examined:
        return examined(self.gateway)

    def changes(self) -> list[Told]:
        return self.gateway.listed(Told, self.gateway.get("/changes"), "changes")

    def approve(self, exactly: Sequence[str]) -> int:
        """Each as it was shown, `id@hash`; one that has changed again is left out."""
        approved = 0
        for each in exactly:
            try:
                found = self.gateway.post(of_item(each, "/approve"))
            except ItemNotFound:
                continue
            approved += self.gateway.value(Approved, found).approved
        return approved


def _filters(asked: Filters) -> dict[str, Any]:
    said: dict[str, Any] = {name: list(getattr(asked, field)) for field, name in ASKED_BY.items()}
    return said | {"state": STATES[asked.active]}


def _refuse_local(config: ServerConfig) -> None:
    """What a gateway does not take: it would start programs, or look up secrets, over there."""
    if config.transport is Transport.STDIO:
        raise UsageError(
            f"{config.name} is a command, and whoever could add one to a gateway could start "
            "programs there",
            "add it where the board is, with --board",
        )
    own = ServerConfig(config.name, config.transport, url=config.url, namespace=config.namespace)
    if different := [
        name for name, one, two in zip(config._fields, config, own, strict=True) if one != two
    ]:
        raise UsageError(
            f"{config.name} says more than its URL: {', '.join(different)}",
            "leave that out, or add it where the board is, with --board",
        )
