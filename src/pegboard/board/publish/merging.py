"""Three states of an item's files into one: what both sides changed, and neither loses."""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pegboard.errors import UsageError
from pegboard.model.content import ItemFile
from pegboard.sources.folder.bundle import make_file

SECONDS = 60

Files = Mapping[str, ItemFile]


def merged(base: Files, ours: Files, theirs: Files) -> dict[str, ItemFile]:
    """Raises `UsageError` that names every file in which both changed the same place."""
    found: dict[str, ItemFile] = {}
    conflicts: list[str] = []
    for path in sorted(base.keys() | ours.keys() | theirs.keys()):
        was, mine, new = base.get(path), ours.get(path), theirs.get(path)
        if _same(mine, new) or _same(was, new):
            chosen: ItemFile | None = mine
        elif _same(was, mine):
            chosen = new
        else:
            chosen = _both(path, was, mine, new)
            if chosen is None:
                conflicts.append(path)
        if chosen is not None:
            found[path] = chosen
    if conflicts:
        raise UsageError(
            f"changed here and in the registry, in the same place: {', '.join(conflicts)}",
            "nothing was written; move your change away, pull with --force, and make it again",
        )
    return found


def _same(one: ItemFile | None, other: ItemFile | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.sha256, one.executable) == (other.sha256, other.executable)


def _both(
    path: str, was: ItemFile | None, mine: ItemFile | None, new: ItemFile | None
) -> ItemFile | None:
    """One file with the changes of both sides, or None if they are at odds."""
    if was is None or mine is None or new is None:
        return None
    content = _lines(was.content, mine.content, new.content)
    if content is None:
        return None
    executable = new.executable if mine.executable == was.executable else mine.executable
    return make_file(path, content, executable=executable)


def _lines(was: bytes, mine: bytes, new: bytes) -> bytes | None:
    if mine == was:  # and only whether it can be executed differs
        return new
    if new in (was, mine):
        return mine
    if any(b"\0" in each for each in (was, mine, new)):
        return None
    git = shutil.which("git")
    if git is None:
        raise UsageError(
            "to merge, git is needed, and it is not installed",
            "install it, or choose one side with --force",
        )
    with tempfile.TemporaryDirectory(prefix="pegboard-merge-") as folder:
        names = ("mine", "base", "new")
        for name, content in zip(names, (mine, was, new), strict=True):
            (Path(folder) / name).write_bytes(content)
        try:
            done = subprocess.run(  # noqa: S603 (git, with files of our own naming)
                [git, "merge-file", "-p", "-q", *names],
                cwd=folder,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"git could not merge: {error}") from error
    return done.stdout if done.returncode == 0 else None
