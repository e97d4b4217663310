"""The disk runs full: SQLite itself says so, nothing committed is lost, and work goes on after."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from reliability_parts import (
    BOUND,
    HASHED,
    Machine,
    ToolFolder,
    assert_whole,
    item,
    standing,
    waiting,
    worker,
)

from making import word_hits
from pegboard.errors import BoardFull, exit_code
from pegboard.model.items import Item
from pegboard.store.sqlite.store import SqliteStore

MEGABYTES = 2
BALLAST = 1_400_000
SMALL_DISK = """
set -u
mount -t tmpfs -o size={megabytes}m none "$DISK"
pegboard() {{ "$PYTHON" -m pegboard "$@" --board "$DISK/board.db"; }}
pegboard init && pegboard add folder "$TOOLS" && pegboard sync || exit 90
cp "$LARGE"/*.py "$TOOLS/mcptools/office"
head -c {ballast} /dev/zero > "$DISK/ballast"
pegboard sync; echo "full $?"
pegboard search issue --mode bm25; echo "search $?"
rm "$DISK/ballast"
pegboard sync; echo "sync $?"
pegboard doctor; echo "doctor $?"
cp "$DISK"/board.db* "$KEPT"
"""


def large(number: int) -> Item:
    return item(f"tool_{number}", f"Counts {number} sheep.", body=f"sheep {number} " * 2000)


def fill(store: SqliteStore) -> tuple[int, BoardFull]:
    """Put items until no more fit; how many did, and what was said then."""
    pages = store.database.connection()
    pages.pragma("max_page_count", int(pages.pragma("page_count")) + 60)
    for number in range(1000):
        try:
            store.items.put([large(number)], HASHED.fingerprint)
        except BoardFull as error:
            return number, error
    raise AssertionError("the limit did not hold")


def test_a_full_disk_refuses_the_change_names_the_board_and_says_what_to_do(
    board: Path, store: SqliteStore
) -> None:
    fitted, error = fill(store)

    assert fitted > 0
    assert exit_code(error) == 4
    assert str(board) in error.message
    assert "full" in error.message
    assert "free some space" in error.hint


def test_what_was_there_before_the_disk_ran_full_is_whole_and_can_be_searched(
    store: SqliteStore,
) -> None:
    fitted, _ = fill(store)

    assert standing(store) == {"pending": fitted}
    assert waiting(store) == fitted
    assert store.check() == []
    assert len(word_hits(store, ["sheep"], limit=1000)) == fitted


def test_a_store_that_met_a_full_disk_works_again_when_there_is_room(store: SqliteStore) -> None:
    fitted, _ = fill(store)
    store.database.connection().pragma("max_page_count", 1_000_000)

    assert store.items.put([large(fitted)], HASHED.fingerprint).added == 1

    assert worker(store, HASHED).step() is True
    assert_whole(store, HASHED)


def test_vectors_that_no_longer_fit_leave_their_tasks_to_be_done_later(
    board: Path, store: SqliteStore
) -> None:
    store.items.put([large(number) for number in range(40)], HASHED.fingerprint)
    pages = store.database.connection()
    pages.pragma("max_page_count", pages.pragma("page_count"))
    hand = worker(store, HASHED)

    with pytest.raises(BoardFull):
        while hand.step():
            pass

    assert store.check() == []
    assert standing(store)["pending"] > 0
    pages.pragma("max_page_count", 1_000_000)
    store.tasks.release(hand.owner)
    while worker(store, HASHED).step():
        pass
    assert_whole(store, HASHED)


def test_a_sync_onto_a_small_disk_fails_clearly_and_completes_when_there_is_room(
    tmp_path: Path, board: Path, store: SqliteStore, machine: Machine
) -> None:
    """On a real file system where one may be mounted; else SQLite's own limit stands for it."""
    if not _may_mount(tmp_path):
        assert fill(store)[0] > 0
        return
    tools = ToolFolder(tmp_path / "tools", 20)
    later = ToolFolder(tmp_path / "later", 0)
    for number in range(30):
        later.write(f"large_{number}", f"Archive the mailbox {number}. " + "word " * 600)
    places = {"DISK": tmp_path / "disk", "KEPT": tmp_path / "kept"}
    for place in places.values():
        place.mkdir()
    places["LARGE"] = later.root / "mcptools" / "office"

    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", SMALL_DISK.format(megabytes=MEGABYTES, ballast=BALLAST)],
        env=machine.environ
        | {"PYTHON": sys.executable, "TOOLS": str(tools.root)}
        | {name: str(place) for name, place in places.items()},
        capture_output=True,
        encoding="utf-8",
        timeout=BOUND,
    )

    codes = [line for line in done.stdout.splitlines() if line.split()[0] in CODES]
    assert codes == ["full 4", "search 0", "sync 0", "doctor 0"], done.stdout + done.stderr
    assert f"the disk that holds {places['DISK'] / 'board.db'} is full" in done.stderr
    assert "Traceback" not in done.stderr
    kept = SqliteStore(places["KEPT"] / "board.db")
    assert tools.on(kept).keys() == tools.described.keys() | later.described.keys()
    assert_whole(kept, HASHED)
    kept.close()


CODES = ("full", "search", "sync", "doctor")


def _may_mount(scratch: Path) -> bool:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    place = scratch / "may_mount"
    place.mkdir()
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)],
        capture_output=True,
        timeout=BOUND,
    )
    return tried.returncode == 0
