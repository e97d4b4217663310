"""Large files through the commands, with processes of their own: sync, show, doctor."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from blobs_parts import KEYS, LARGE

TOOL = 'def run():\n    """Forecast the weather of tomorrow."""\n'


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Desk:
    """A project with a folder of tools, one of them large."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, str] = {"PEGBOARD_EMBED_PROVIDER": "disabled"}
        self.tool = folder / "tools" / "mcptools" / "weather" / "forecast.py"
        self.tool.parent.mkdir(parents=True)
        self.write("x")
        for command in (("init",), ("add", "folder", "--no-sync", "tools")):
            assert self.run(*command).code == 0

    def write(self, filling: str) -> None:
        self.tool.write_text(f"{TOOL}# {filling * LARGE}\n")

    def run(self, *args: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", *args],
            cwd=self.folder,
            env=os.environ | self.settings,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def shown(self) -> bytes:
        [file] = self.run("show", "forecast", "--json").json["item"]["version"]["files"]
        return file["content"].encode()

    def blobs(self, under: str = ".pegboard/board.db-files") -> list[Path]:
        return [path for path in (self.folder / under).rglob("*") if path.is_file()]


@pytest.fixture
def desk(tmp_path):
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder)


def test_a_large_tool_is_synced_and_shown(desk):
    assert desk.run("sync").code == 0
    [blob] = desk.blobs()
    assert blob.read_bytes() == desk.shown() == desk.tool.read_bytes()
    assert "board.db-files" in desk.run("status").out


def test_settings_choose_the_folder_and_it_is_relative_to_their_file(desk):
    (desk.folder / "pegboard.toml").write_text('[blobs]\nplace = "large"\n')
    assert desk.run("sync").code == 0
    assert (len(desk.blobs("large")), desk.blobs()) == (1, [])


def test_a_bucket_is_used_with_the_usual_variables(desk, s3, bucket):
    desk.settings |= KEYS | {"PEGBOARD_BLOBS_PLACE": f"s3://{bucket}/pegboard"}
    desk.settings["PEGBOARD_BLOBS_ENDPOINT"] = s3
    assert desk.run("sync").code == 0
    assert desk.shown() == desk.tool.read_bytes()
    assert (desk.run("doctor").code, desk.blobs()) == (0, [])


def test_a_sync_with_a_bucket_that_is_missing_says_so_and_the_next_one_makes_up_for_it(desk, s3):
    assert desk.run("sync").code == 0
    desk.write("y")
    small = desk.tool.with_name("small.py")
    small.write_text(TOOL)
    reached = dict(desk.settings)
    desk.settings |= KEYS | {"PEGBOARD_BLOBS_PLACE": "s3://nowhere", "AWS_ENDPOINT_URL": s3}
    ran = desk.run("sync")
    assert (ran.code, "there is no bucket 'nowhere'" in ran.err) == (4, True)
    desk.settings = reached
    assert desk.run("show", "small").code == 7
    ran = desk.run("sync", "--json")
    assert (ran.json["sources"][0]["added"], ran.json["sources"][0]["changed"]) == (1, 1)
    assert desk.shown() == desk.tool.read_bytes()
    assert desk.run("doctor").code == 0


def test_doctor_finds_what_nothing_refers_to_and_removes_it(desk):
    desk.run("sync")
    desk.write("y")
    desk.run("sync")
    assert len(desk.blobs()) == 2
    assert desk.run("doctor", "--json").json["unused"] == {"files": 0, "bytes": 0}
    for blob in desk.blobs():
        os.utime(blob, (0, time.time() - 3700))
    ran = desk.run("doctor")
    assert ran.code == 0
    assert "nothing refers to 1 large files (0.1 MB)" in ran.out
    assert "pegboard doctor --fix" in ran.out
    size = len(desk.tool.read_bytes())
    assert desk.run("doctor", "--json").json["unused"] == {"files": 1, "bytes": size}
    assert "removed 1 large files (0.1 MB)" in desk.run("doctor", "--fix").out
    assert [blob.read_bytes() for blob in desk.blobs()] == [desk.tool.read_bytes()]


def test_a_damaged_file_is_found_by_show_and_doctor_and_healed_by_a_full_sync(desk):
    desk.run("sync")
    desk.blobs()[0].write_bytes(b"x")
    ran = desk.run("show", "forecast")
    assert ran.code == 4
    assert "forecast.py of mcptools:weather:forecast is not what was put" in ran.err
    assert "pegboard sync --full" in ran.err
    ran = desk.run("doctor")
    assert (ran.code, "forecast.py" in ran.out) == (9, True)
    assert desk.run("sync", "--full").code == 0
    assert desk.shown() == desk.tool.read_bytes()
    assert desk.run("doctor").code == 0
