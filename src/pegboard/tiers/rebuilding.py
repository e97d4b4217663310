"""A project's board, made anew from its content."""

import time
from pathlib import Path
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard
from pegboard.board.sync.source_kinds import AI
from pegboard.config.places import Located
from pegboard.errors import BoardCorrupt, BoardMissing, UsageError
from pegboard.sources.pytools import GENERATED, WRITTEN

BESIDE = ("", "-wal", "-shm", "-files")
"""How the names of what belongs to a board end, after the board's own."""


class Ready(NamedTuple):
    """A board to be filled, and how it came about."""

    board: Pegboard
    made: bool
    moved_to: str = ""
    """Where the old one is, if it could not be used."""
    added: tuple[str, ...] = ()
    """Sources that the project has and the board had not."""


def made_ready(place: Located, *, aside: bool = False) -> Ready:
    """The project's board, if need be a new one, with the project's own folders as sources.

    One that is no board, or is damaged, or is to be put `aside`, is kept under another name.
    """
    file, project = place.board, place.ground
    if not isinstance(file, Path):
        raise UsageError(
            "only a board in a file is rebuilt from a project",
            "read a database's sources again with: pegboard sync --full",
        )
    if project is None:
        raise UsageError("there is no project here", "make one with: pegboard init")
    moved = _put_aside(file) if aside else ""
    try:
        board, made = Pegboard.at(place), False
        _refuse_damaged(board)
    except BoardMissing:
        board, made = Pegboard.at(place, create=True), True
    except BoardCorrupt:
        moved = _put_aside(file)
        board, made = Pegboard.at(place, create=True), True
    return Ready(board, made, moved, tuple(_add_folders(board, project)))


def _refuse_damaged(board: Pegboard) -> None:
    try:
        damage = [each for each in board.check() if each.startswith("SQLite says")]
    except BoardCorrupt:
        board.close()
        raise
    if damage:
        board.close()
        raise BoardCorrupt(damage[0])


def _put_aside(file: Path) -> str:
    """With all that belongs to it, so that what is in it may still be got at."""
    moment = time.strftime("%Y%m%d-%H%M%S")
    target = file.with_name(f"{file.name}.broken-{moment}")
    number = 1
    while target.exists():
        number += 1
        target = file.with_name(f"{file.name}.broken-{moment}-{number}")
    for end in reversed(BESIDE):  # the board last: without it, the next one begins anew
        beside = file.with_name(f"{file.name}{end}")
        if beside.exists():
            beside.rename(target.with_name(f"{target.name}{end}"))
    return str(target)


def _add_folders(board: Pegboard, project: Path) -> list[str]:
    known = {each.location for each in board.sources()}
    has_tools = any((project / each).is_dir() for each in (WRITTEN, GENERATED))
    folders = [project / AI] if (project / AI).is_dir() else []
    folders += [project] if has_tools else []
    return [board.add_folder(each).name for each in folders if str(each.resolve()) not in known]
