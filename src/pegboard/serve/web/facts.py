"""What is known of an item beside what it does: where it is from, and what became of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Health, Outcome
from pegboard.model.curation import Happening, Tie
from pegboard.model.items import CREATED, Entry, Item, qualified
from pegboard.model.runs import RunCounts
from pegboard.quality import figures
from pegboard.serve.web.moments import Moment, moment, took
from pegboard.serve.web.paths import item_path

MOST_RUNS = 8
MOST_EVENTS = 12
MOST_VERSIONS = 20
MOST_FILES = 100
MOST_TIES = 100
LARGEST_SHOWN = 40_000
"""Bytes of a file that is shown."""
LARGEST_TOGETHER = 400_000
SHORT_HASH = 12


class RunLine(NamedTuple):
    at: Moment | None
    outcome: str
    tone: str
    took: str
    by: str
    version: str


class RunsView(NamedTuple):
    runs: int
    ok: int
    rate: str
    mean: str
    last: tuple[RunLine, ...]
    figures: Mapping[str, str]
    """How good it is, as far as the board can tell."""


class EventLine(NamedTuple):
    at: Moment | None
    event: str
    by: str
    detail: str


class VersionView(NamedTuple):
    number: str
    hash: str
    at: Moment | None
    changelog: str
    latest: bool


class FileView(NamedTuple):
    path: str
    size: str
    text: str | None
    """None for what is no text, or too long."""


class TieView(NamedTuple):
    relation: str
    outward: bool
    label: str
    path: str
    """Empty if it leads nowhere."""


class SignatureView(NamedTuple):
    said: str
    tone: str
    signer: str = ""
    signed_at: str = ""


class ServerView(NamedTuple):
    said: str
    tone: str
    error: str


def runs_of(board: Pegboard, entry: Entry, counts: RunCounts) -> RunsView:
    rate = f"{counts.ok / counts.runs:.0%}" if counts.runs else ""
    mean = took(counts.seconds) if counts.seconds is not None else ""
    lines = tuple(
        RunLine(
            moment(run.at),
            run.outcome.value.replace("_", " "),
            "good" if run.outcome is Outcome.OK else "bad",
            took(run.seconds),
            run.caller,
            run.version,
        )
        for run in board.runs(entry.item, MOST_RUNS)
    )
    return RunsView(counts.runs, counts.ok, rate, mean, lines, figures(entry, counts))


def events_of(found: Sequence[Happening]) -> tuple[EventLine, ...]:
    return tuple(
        EventLine(moment(each.at), each.event.value, each.by, each.detail)
        for each in found[:MOST_EVENTS]
    )


def versions_of(board: Pegboard, item: Item) -> tuple[VersionView, ...]:
    found = board.versions(item)[:MOST_VERSIONS]
    latest = item.version.version if item.version else ""
    return tuple(
        VersionView(
            each.number,
            each.content_hash[:SHORT_HASH],
            moment(each.created_at),
            each.changelog,
            each.number == latest,
        )
        for each in found
    )


def files_of(item: Item) -> tuple[FileView, ...]:
    files = item.version.files if item.version else ()
    found, room = list[FileView](), LARGEST_TOGETHER
    for each in files[:MOST_FILES]:
        text = each.text if len(each.content) <= min(LARGEST_SHOWN, room) else None
        room -= len(each.content) if text is not None else 0
        found.append(FileView(each.path, size_text(len(each.content)), text))
    return tuple(found)


def size_text(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.1f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def ties_of(found: Sequence[Tie]) -> tuple[TieView, ...]:
    return tuple(
        TieView(
            each.relation,
            each.outward,
            qualified(each.namespace, each.id) if each.id else each.target,
            item_path(each.namespace, each.id) if each.id else "",
        )
        for each in found[:MOST_TIES]
    )


def signature_of(item: Item) -> SignatureView:
    """What it was worth when the item came in."""
    signed = item.signature
    if signed is None:
        said = "not signed; it was made on this board" if item.source == CREATED else "not signed"
        return SignatureView(said, "")
    if signed.doubtful:
        return SignatureView(signed.state, "bad", signed.signer, signed.signed_at)
    said = "trusted" if signed.state else "not checked"
    return SignatureView(said, "good" if signed.state else "warn", signed.signer, signed.signed_at)


def server_of(board: Pegboard, entry: Entry) -> ServerView | None:
    """How the server that a tool lives on was when it was last asked."""
    for server in board.servers():
        if server.config.name == entry.item.source:
            state = server.state
            if not server.config.enabled:
                return ServerView("switched off", "warn", "")
            tones = {Health.LIVE: "good", Health.DOWN: "bad", Health.UNKNOWN: ""}
            return ServerView(state.health.value, tones[state.health], state.error)
    return None
