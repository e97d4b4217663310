"""The units for systemd: read by systemd itself, and what they start is started."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from operate_parts import BOUND, ROOT, pegboard

from pegboard.config.settings import ServeSettings
from waiting import until

UNITS = ROOT / "deploy" / "systemd"
GATEWAY, WORKER = "pegboard-gateway.service", "pegboard-worker.service"
PROGRAM = "/opt/pegboard/bin/pegboard"


def settings(unit: str) -> dict[str, str]:
    lines = (UNITS / unit).read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]\w+=", line))


def environment(home: Path) -> dict[str, str]:
    """What the file for the environment says, with places that a test may write to."""
    said = [
        line.split("=", 1)
        for line in (UNITS / "pegboard.env").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    moved = {"/var/lib/pegboard": str(home), "/etc": str(home / "etc")}
    return {name: moved.get(value, value) for name, value in said}


@pytest.fixture
def started(tmp_path):
    """Starts what a unit starts, with its environment and in its folder."""
    running: list[subprocess.Popen[str]] = []
    environ = {"PATH": os.environ["PATH"], "PEGBOARD_SERVE_PORT": "0"} | environment(tmp_path)

    def start(unit: str) -> "subprocess.Popen[str]":
        program, *words = shlex.split(settings(unit)["ExecStart"])
        assert program == PROGRAM
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "pegboard", *words],
                cwd=tmp_path,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return running[-1]

    board = str(tmp_path / "board.db")
    assert pegboard("init", "--board", board).code == 0
    folder = ROOT / "demo"
    assert pegboard("add", "folder", folder, "--no-sync", "--board", board).code == 0
    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=BOUND)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
@pytest.mark.parametrize("unit", [GATEWAY, WORKER])
def test_systemd_finds_nothing_wrong_with_it(unit, tmp_path):
    """Where the program is, is the one thing that a test has to change."""
    text = (UNITS / unit).read_text("utf-8").replace(PROGRAM, sys.executable)
    (tmp_path / unit).write_text(text, "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / unit],
        capture_output=True,
        text=True,
        timeout=BOUND,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.server
def test_the_gateway_starts_serves_and_ends_within_its_time(started):
    gateway = started(GATEWAY)
    assert gateway.stderr
    line = next(line for line in gateway.stderr if "serving at" in line)
    url = line.split("serving at ")[1].split()[0].rstrip(",")
    with urllib.request.urlopen(f"{url}/healthz", timeout=BOUND) as answer:
        assert answer.status == 200
    gateway.send_signal(signal.SIGTERM)
    assert gateway.wait(float(settings(GATEWAY)["TimeoutStopSec"])) == 0


def test_the_worker_starts_embeds_and_ends(started, tmp_path):
    board = str(tmp_path / "board.db")
    assert pegboard("sync", "--no-embed", "--board", board).code == 0
    worker = started(WORKER)
    until(
        lambda: not pegboard("status", "--board", board, "--json").json["waiting"],
        "everything is embedded",
        BOUND,
    )
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(float(settings(WORKER)["TimeoutStopSec"])) == 0


def test_systemd_waits_longer_than_the_gateway_for_what_is_in_hand():
    assert float(settings(GATEWAY)["TimeoutStopSec"]) > ServeSettings().stop_seconds


def test_only_the_gateway_is_told_to_stop_and_not_the_tools_that_it_waits_for():
    assert settings(GATEWAY)["KillMode"] == "mixed"


@pytest.mark.skipif(not shutil.which("bwrap"), reason="there is no bubblewrap")
def test_the_sandbox_works_without_new_privileges():
    assert settings(GATEWAY)["NoNewPrivileges"] == "yes"
    tried = "import os; from pegboard.execute.process.sandbox import find_bubblewrap as find; "
    tried += "found = find(os.environ['PATH']); print(bool(found.path), found.no_userns)"
    done = subprocess.run(
        ["setpriv", "--no-new-privs", sys.executable, "-c", tried],
        capture_output=True,
        text=True,
        timeout=BOUND,
    )
    assert done.stdout == "True True\n", done.stdout + done.stderr


@pytest.mark.parametrize(
    "name", ["RestrictNamespaces", "ProtectKernelTunables", "ProtectHostname", "PrivateUsers"]
)
def test_the_gateway_keeps_what_the_sandbox_is_made_of(name):
    assert name not in settings(GATEWAY)
    assert name in settings(WORKER), "the worker runs no tools, and needs none of it"


def test_no_unit_and_no_example_has_a_secret_in_it():
    for path in sorted(UNITS.iterdir()):
        text = path.read_text("utf-8")
        assert not re.search(r"(?i)(password|secret|token)\s*=\s*\S", text), path


def test_the_command_for_administrators_is_a_script_that_can_be_run():
    path = UNITS / "pegboard-admin"
    assert os.access(path, os.X_OK)
    done = subprocess.run(["sh", "-n", path], capture_output=True, text=True, timeout=BOUND)
    assert (done.returncode, done.stderr) == (0, "")
