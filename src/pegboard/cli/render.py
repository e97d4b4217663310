"""Values as text for people and as JSON for programs."""

import itertools
import json
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Sequence

import click

from pegboard.board.maintain.status import Status
from pegboard.board.sync.one_source import SyncReport
from pegboard.errors import PegboardError
from pegboard.formats.plain import plain
from pegboard.gate.characters import visible, visible_rejections
from pegboard.model.calls import Health
from pegboard.model.content import Blob
from pegboard.model.curation import Tie
from pegboard.model.items import CREATED, Drift, Entry, Item, Rejection
from pegboard.model.runs import RunCounts
from pegboard.quality import figures
from pegboard.text import harmless


def print_json(value: object) -> None:
    encoding = sys.stdout.encoding if sys.stdout else ""  # none if it was closed
    click.echo(json.dumps(plain(value), ensure_ascii=encoding != "utf-8", indent=2))


def width() -> int:
    """Of the terminal; a file or a pipe gets lines of moderate length."""
    return max(shutil.get_terminal_size((100, 20)).columns, 20)


def cells(text: str) -> int:
    """How many columns a text takes: two for 金, none for what stands above another letter."""
    return len(text) if text.isascii() else sum(_cells(c) for c in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, room: int) -> str:
    """As much of a text as `room` columns can take."""
    if cells(text) <= room:
        return text
    taken = itertools.accumulate(_cells(c) for c in text)
    fits = sum(1 for _ in itertools.takewhile(lambda so_far: so_far < room, taken))
    return f"{text[:fits].rstrip()}…"


def wrapped(text: str, indent: str) -> str:
    """A text on as many lines as it needs; ids are not broken, so that they can be copied."""
    return textwrap.fill(
        text,
        width(),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def sync_report(report: SyncReport) -> None:
    if report.error:
        click.echo(f"{report.source}: could not be read; what it had before stays")
        return
    click.echo(
        f"{report.source}: {report.added} added, {report.changed} changed, "
        f"{report.unchanged} unchanged, {report.retired} gone"
        + (f", {report.purged} removed for good" if report.purged else "")
    )
    for title, counted in (("refused", report.rejected), ("left out", report.left_out)):
        if counted:
            details = ", ".join(f"{reason} {n}" for reason, n in sorted(counted.items()))
            click.secho(f"  {title}: {counted.total()} ({details})", fg="yellow")
    if report.rejected:
        click.echo("  see them with: pegboard rejections")
    if report.loose_links:
        lead = "1 link leads" if report.loose_links == 1 else f"{report.loose_links} links lead"
        click.secho(f"  {lead} nowhere; see: pegboard links --unresolved", fg="yellow")


def entry(found: Entry, tied: Sequence[Tie], ran: RunCounts) -> None:
    item, embedding = found.item, found.embedding
    click.secho(item.id, bold=True)
    facts = {
        "title": item.title,
        "kind": item.kind.value + (f" ({item.tool_type})" if item.tool_type else ""),
        "namespace": item.namespace,
        "tags": _tags(found),
        "deprecated": item.deprecation.replace("deprecated", "yes", 1),
        "author": item.author,
        "from": visible(f"{item.source} / {item.origin}"),
        "version": item.version.version if item.version else "",
        "files": ", ".join(map(visible, _files(item))),
        "asks for": f"\n{'':<13}".join(" ".join(each) for each in item.permissions),
        "state": _state(found),
        "signature": _signature(item),
        "runs": _runs(ran),
        **figures(found, ran),
        "embedding": embedding.status.value + (f" by {embedding.model}" if embedding.model else ""),
        "error": embedding.error,
        "updated": ago(found.updated_at),
    }
    for name, value in facts.items():
        if value:
            click.echo(f"  {name:<10} {value}")
    click.echo()
    click.echo(item.description.rstrip())
    if tied:
        click.echo()
        ties(tied)
    if item.input_schema:
        click.echo()
        click.echo("Input:")
        click.echo(json.dumps(item.input_schema, ensure_ascii=False, indent=2))
    if item.document:
        click.echo()
        click.echo("As written:")
        click.echo(item.document.rstrip())


def _tags(found: Entry) -> str:
    tags, whose = ", ".join(found.item.tags), whose_tags(found)
    return f"{tags or 'none'} ({whose})" if whose else tags


def whose_tags(found: Entry) -> str:
    """Nothing, if they are the source's."""
    if found.tags_override_at is None:
        return ""
    by = f" by {harmless(found.tags_override_by)}" if found.tags_override_by else ""
    imported = ", ".join(found.imported_tags) or "no tags"
    return f"tagged{by}, {ago(found.tags_override_at)}; its source says: {imported}"


def _files(item: Item) -> list[str]:
    """Where it has several: that one lies where it comes from is told already."""
    paths = [each.path for each in item.version.files] if item.version else []
    return paths if len(paths) > 1 else []


def _signature(item: Item) -> str:
    """What it was worth when the item came in."""
    if item.signature is None:
        return "none; it was made on this board" if item.source == CREATED else ""
    signed = f" by {item.signature.signer} at {item.signature.signed_at}"
    return (item.signature.state or "not checked") + (signed if item.signature.signer else "")


def _runs(ran: RunCounts) -> str:
    if not ran.runs or ran.last_at is None:
        return ""
    took = f" in {ran.seconds:.2f} s on average" if ran.seconds is not None else ""
    return f"{ran.runs}, of which {ran.ok} went well{took}; the last {ago(ran.last_at)}"


def ties(found: Sequence[Tie]) -> None:
    for each in found:
        end = f"{each.id}" if each.id else f"{each.target}, which leads nowhere"
        click.echo(f"  {each.relation} {end}" if each.outward else f"  {end} {each.relation} it")


def _state(found: Entry) -> str:
    if found.off_at is not None:
        by = f" by {harmless(found.off_by)}" if found.off_by else ""
        why = f": {harmless(found.off_reason)}" if found.off_reason else ""
        return f"switched off{by} {ago(found.off_at)}{why}"
    if found.drift is Drift.CHANGED:
        offered = "active" if found.active else "held back"
        return f"{offered}: changed since it was approved; see: pegboard changes"
    return "active" if found.active else f"inactive ({found.drift})"


def status(found: Status) -> None:
    for name, value in found.facts.items():
        click.echo(f"{name:<10} {value}")
    click.echo(f"{'model':<10} {found.model}")
    counts = found.embeddings._asdict()
    click.echo(f"{'items':<10} {counts.pop('total')}")
    click.echo(f"{'embedding':<10} " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    click.echo(f"{'waiting':<10} {found.waiting} tasks{_pace(found)}")
    if found.building:
        new = found.building.embeddings
        click.echo(
            f"{'building':<10} {found.building.model}: {new.ready} ready, "
            f"{new.pending} pending, {new.failed} failed"
        )
    see = "; see: pegboard rejections" if found.rejections else ""
    click.echo(f"{'refused':<10} {found.rejections}{see}")
    if found.changed:
        click.echo(f"{'changed':<10} {found.changed} since approved; see: pegboard changes")
    servers = {state.name: state for state in found.servers}
    for record in found.sources:
        synced = f"synced {ago(record.synced_at)}" if record.synced_at else "never synced"
        click.echo(f"{'source':<10} {record.name} ({record.kind}) {record.location}, {synced}")
        state = servers.get(record.name)
        if record.name in found.switched_off:
            click.echo(f"{'':<10} switched off")
        elif state and state.health is Health.DOWN:
            when = ago(state.checked_at) if state.checked_at else "at the last try"
            why = " ".join(visible(state.error).split())
            click.secho(f"{'':<10} down {when}: {why}", fg="yellow")


def _pace(found: Status) -> str:
    oldest, speed = found.pace
    since = f", the oldest queued {ago(oldest)}" if found.waiting and oldest is not None else ""
    return since + (f", {speed:g} done a second" if speed else "")


def counted_files(found: Sequence[Blob] | PegboardError) -> dict[str, object]:
    if isinstance(found, PegboardError):
        return {"files": None, "bytes": None, "not_looked": f"{found.message}; {found.hint}"}
    return {"files": len(found), "bytes": sum(each.size for each in found)}


def unused_files(found: Sequence[Blob] | PegboardError, *, removed: bool) -> None:
    if isinstance(found, PegboardError):
        click.echo(f"did not look for unused large files: {found}")
        return
    if not found:
        return
    megabytes = sum(each.size for each in found) / 1_000_000
    counted = f"{len(found)} large files ({megabytes:.1f} MB)"
    if removed:
        click.echo(f"removed {counted} that nothing referred to")
    else:
        click.echo(f"nothing refers to {counted}; remove them with: pegboard doctor --fix")


def rejections(found: Sequence[Rejection]) -> None:
    for each in visible_rejections(found):
        when = f"  {ago(each.rejected_at)}" if each.rejected_at is not None else ""
        named = click.style(f"{each.source} / {each.origin}", bold=True)
        click.echo(f"{named}  {each.code}{when}")
        click.echo(f"    {each.reason}")


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def ago(then: float) -> str:
    seconds = max(time.time() - then, 0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
