"""Board files that are damaged: said in clear words, never a traceback, never made worse."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from reliability_parts import HASHED, Machine, ToolFolder, numbered, sql, worker

from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.errors import BoardCorrupt, PegboardError
from pegboard.model.content import Version
from pegboard.store.sqlite.store import SqliteStore

COMMANDS = (["search", "sheep"], ["status"], ["sync"], ["doctor"])
PAGE = 4096


def noise(length: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(length)


def overwritten(content: bytes, page: int) -> bytes:
    return content[: page * PAGE] + noise(PAGE, page) + content[(page + 1) * PAGE :]


def emptied_header(content: bytes) -> bytes:
    """Still a SQLite database by its first bytes, but nothing else of the first page is right."""
    return content[:100] + noise(PAGE - 100) + content[PAGE:]


def without_first_page(content: bytes) -> bytes:
    return overwritten(content, 0)


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2 + 17]


def truncated_to_one_page(content: bytes) -> bytes:
    return content[:PAGE]


def truncated_to_nothing(content: bytes) -> bytes:
    return b""


def random_bytes(content: bytes) -> bytes:
    return noise(len(content))


@pytest.fixture
def sound(tmp_path: Path, board: Path, machine: Machine) -> bytes:
    """The bytes of a synced board that was closed."""
    tools = ToolFolder(tmp_path / "tools", 40)
    tools.write("shepherd", "Counts sheep.")
    for command in (["init"], ["add", "folder", tools.root], ["sync"]):
        assert machine.pegboard(*command, "--board", board).returncode == 0
    return board.read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        random_bytes,
        without_first_page,
        emptied_header,
        truncated,
        truncated_to_one_page,
        truncated_to_nothing,
    ],
)
def test_a_damaged_board_is_said_to_be_damaged_and_is_left_as_it_is(
    board: Path, machine: Machine, sound: bytes, damage: Callable[[bytes], bytes]
) -> None:
    damaged = damage(sound)
    board.write_bytes(damaged)

    for command in COMMANDS:
        done = machine.pegboard(*command, "--board", board)
        assert done.returncode in (4, 9), (command, done.stderr)
        assert "Traceback" not in done.stderr
        assert str(board) in done.stderr
        assert board.read_bytes() == damaged


def test_a_page_overwritten_in_the_middle_gives_no_traceback_and_doctor_reports_it(
    board: Path, machine: Machine, sound: bytes
) -> None:
    board.write_bytes(overwritten(sound, len(sound) // PAGE // 2))

    for command in COMMANDS:
        done = machine.pegboard(*command, "--board", board)
        assert done.returncode in ((4, 9) if command == ["doctor"] else (0, 1, 4)), done.stderr
        assert "Traceback" not in done.stderr


class Readings:
    """What a reader gets from a damaged board: an answer or one of our errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unexpected: list[str] = []

    def found_by_check(self) -> bool:
        """Whether the damage is reported; whatever is not an error of ours is kept."""
        reported = False
        settings = Settings(embed=EmbedSettings(provider="test"))
        try:
            with Pegboard(SqliteStore(self.path), settings) as pegboard:
                readings: list[Callable[[], object]] = [
                    lambda: pegboard.search("count sheep", limit=50),
                    lambda: pegboard.search("count sheep", mode="bm25", limit=50),
                    pegboard.status,
                    lambda: pegboard.show("tool_7"),
                ]
                for reading in readings:
                    self._try(reading)
                reported = self._try(pegboard.check) != []
        except PegboardError:
            reported = True
        return reported

    def _try(self, reading: Callable[[], object]) -> object:
        try:
            return reading()
        except PegboardError as error:
            return error
        except Exception as error:  # noqa: BLE001 (that there is none is what is tested)
            self.unexpected.append(repr(error))
            return error


def test_no_single_damaged_page_goes_unreported_or_causes_an_unknown_error(
    board: Path, store: SqliteStore
) -> None:
    store.items.put(
        [
            each._replace(body="sheep and wolf " * 700, version=Version("1.0.0", each.name))
            for each in numbered(30)
        ],
        HASHED.fingerprint,
    )
    worker(store, HASHED).step()
    store.close()
    sql(board, "VACUUM")
    sound = board.read_bytes()
    readings = Readings(board)
    unreported = []

    for page in range(1, len(sound) // PAGE):
        board.write_bytes(overwritten(sound, page))
        if not readings.found_by_check():
            unreported.append(page)

    assert unreported == []
    assert readings.unexpected == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE items SET tags = '[not json' WHERE name = 'tool_1'",
        "UPDATE items SET input_schema = '[]' WHERE name = 'tool_1'",
        "UPDATE items SET description = CAST(x'ff00fe' AS TEXT) WHERE name = 'tool_1'",
        "UPDATE items SET description = 'Something else.' WHERE name = 'tool_1'",
        "UPDATE vectors SET vector = x'00'",
        "DELETE FROM embedding_tasks",
        "DROP TABLE vectors",
        "DROP TABLE item_terms",
    ],
)
def test_content_that_was_changed_behind_our_back_is_reported_without_an_unknown_error(
    board: Path, store: SqliteStore, damage: str
) -> None:
    store.items.put(numbered(9), HASHED.fingerprint)
    worker(store, HASHED, batch_size=5).step()
    store.close()
    sql(board, damage)
    readings = Readings(board)

    assert readings.found_by_check() is True

    assert readings.unexpected == []


def test_a_database_of_somebody_else_is_not_touched(board: Path, machine: Machine) -> None:
    sql(board, "CREATE TABLE diary (day TEXT)")
    theirs = board.read_bytes()

    for command in (*COMMANDS, ["init"]):
        done = machine.pegboard(*command, "--board", board)
        assert done.returncode == 4
        assert "not a Pegboard board" in done.stderr

    assert board.read_bytes() == theirs


def test_the_error_of_a_damaged_board_names_it_and_says_how_to_go_on(board: Path) -> None:
    board.write_bytes(noise(5000))

    with pytest.raises(BoardCorrupt) as refused:
        SqliteStore(board)

    assert str(board) in refused.value.message
    assert "pegboard rebuild" in refused.value.hint
