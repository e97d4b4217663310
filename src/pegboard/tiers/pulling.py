"""Pulling: from the registry into a project, or into a person's own folder, and onto its board."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.filling import Outcome
from pegboard.board.publish.comparing import Comparing, Pulled
from pegboard.board.publish.fetching import Fetching, Got, Registry, Want
from pegboard.board.publish.lock_file import NAME, Locked, read_lock, write_lock
from pegboard.board.publish.placing import put_in_place
from pegboard.board.sync.source_kinds import AI
from pegboard.board.trust.private_files import locked
from pegboard.config.parts import sealing_of
from pegboard.config.places import Located, Tier
from pegboard.errors import ConfigError, UsageError
from pegboard.formats.semver import parse_range, split
from pegboard.model.items import Rejection
from pegboard.ports.stages import Progress, quiet
from pegboard.tiers.opening import open_user

GUARD_SECONDS = 600.0
"""So long somebody waits for another who pulls into the same place."""


class Ground(NamedTuple):
    """Where pulled items go."""

    root: Path
    """The folder with `tools`, `skills` and so on in it."""
    lock: Path
    guard: Path
    """Held while somebody pulls."""


class PullReport(NamedTuple):
    items: tuple[Pulled, ...]
    root: Path
    refused: tuple[Rejection, ...] = ()
    """What the gate of the board there did not let in."""
    notices: tuple[str, ...] = ()


def ground_of(place: Located, to: str) -> Ground:
    if to == "user":
        own = place.settings.data_folder
        return Ground(own / "ai", own / NAME, own / "pull.guard")
    if place.project is None:
        raise ConfigError(
            "there is no project here to pull into",
            "make this folder one: pegboard init; or pull for yourself: --to user",
        )
    return Ground(
        place.project / AI, place.project / NAME, place.project / ".pegboard" / "pull.guard"
    )


def want_of(text: str, *, early: bool = False) -> Want:
    """`ID`, `ID@RANGE` or `ID@latest`."""
    name, range_ = split(text)
    head, at, tail = text.rpartition("@")
    if not range_ and at and head and not tail.endswith(":"):
        if tail != "latest" or parse_range(tail) is not None:
            raise UsageError(f"{tail!r} is no version or range", "give one such as 1.2.3 or ^1.2")
        name = head
    return Want(name, range_, early)


def pull(
    registry: Registry,
    place: Located,
    wants: Sequence[Want],
    *,
    to: str = "project",
    force: bool = False,
    merge: bool = False,
    dry_run: bool = False,
    progress: Progress = quiet,
) -> PullReport:
    """What is wanted with all that it needs; without wants, exactly what the lock file says."""
    ground = ground_of(place, to)
    ground.guard.parent.mkdir(parents=True, exist_ok=True)
    with locked(ground.guard, GUARD_SECONDS):
        lock = read_lock(ground.lock)
        if not wants and not lock:
            raise UsageError(
                f"there is nothing to pull: {ground.lock} is not there or empty",
                "name what you want: pegboard pull ID",
            )
        seal = sealing_of(place.settings, (Tier.REGISTRY,)).seal
        fetching = Fetching(registry, seal, lock, count=not dry_run)
        got = fetching.all(wants) if wants else fetching.as_locked()
        _refuse_same_place(got)
        comparing = Comparing(ground.root, lock, registry, force, merge, restoring=not wants)
        planned = [comparing.planned(each) for each in got]
        report = PullReport(tuple(planned), ground.root)
        if dry_run:
            return report
        _write(ground, lock, planned, progress)
    return _hung(report, place, to, progress)


def _refuse_same_place(got: Sequence[Got]) -> None:
    taken: dict[str, str] = {}
    for each in got:
        other = taken.setdefault(each.record.path, each.record.reference)
        if other != each.record.reference:
            raise UsageError(
                f"{other} and {each.record.reference} would lie at the same place",
                "pull one of them; or one with --to user",
            )


def _write(
    ground: Ground, lock: dict[str, Locked], planned: Sequence[Pulled], progress: Progress
) -> None:
    """Each item as a whole, and then its line in the lock file."""
    for number, each in enumerate(planned, start=1):
        if each.state != "unchanged":
            put_in_place(ground.root, each.path, each.locked.folder, each.files, each.side_file)
        others = [name for name, kept in lock.items() if kept.path == each.path]
        if lock.get(each.reference) != each.locked or others != [each.reference]:
            for name in others:  # which this one takes the place of
                del lock[name]
            lock[each.reference] = each.locked
            write_lock(ground.lock, lock)
        progress("pulling", number, len(planned))


def _hung(report: PullReport, place: Located, to: str, progress: Progress) -> PullReport:
    """On the board there, through its gate."""
    board = open_user(place, create=True) if to == "user" else Pegboard.at(place, create=True)
    with board:
        outcome, source = read_folder(board, report.root, progress)
        paths = {each.path for each in report.items}
        refused = [
            each for each in board.rejections() if each.source == source and each.origin in paths
        ]
    return report._replace(refused=tuple(refused), notices=tuple(outcome.notices))


def read_folder(board: Pegboard, root: Path, progress: Progress) -> tuple[Outcome, str]:
    """Sync the source that this folder is, which is added if it is not there yet."""
    found = [each for each in board.sources() if Path(each.location) == root.resolve()]
    record = found[0] if found else board.add_folder(root)
    return board.sync([record.name], progress=progress), record.name
