"""Each example is run as its README says, ends well, and ends badly when something is wrong."""

import subprocess
import sys

import pytest
from transcripts import ROOT, Terminal, differ, shown

from real_servers import PARTS

README = (ROOT / "examples" / "README.md").read_text("utf-8")
[AGENT] = shown(README)
CLIENTS = PARTS / "clients" / "bin"

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """In the clone, with a board of the demo that each way begins with."""
    with Terminal(tmp_path_factory.mktemp("examples")) as terminal:
        terminal.run("cd pegboard")
        yield terminal


def test_the_agent_over_mcp_does_what_the_readme_shows(terminal):
    assert AGENT.command == "python examples/agent.py"
    said, code = terminal.run(AGENT.command)
    assert not differ(said, AGENT.output), said
    assert code == 0


@pytest.mark.parametrize("way", ["http", "pydantic-ai"])
def test_the_other_ways_print_the_same(terminal, way):
    command = f"python examples/other_ways.py {way}"
    assert f"\n{command}\n" in README
    if not (CLIENTS / "python").exists():
        pytest.fail("pydantic-ai is not installed; run: make parts")
    said, code = terminal.run(f"PATH={CLIENTS}:$PATH {command}")
    assert not differ(said, AGENT.output), said
    assert code == 0


@pytest.mark.parametrize("program", ["agent.py", "other_ways.py http"])
def test_an_example_on_a_board_without_tools_fails(terminal, program):
    terminal.run("pegboard init --board empty.db")
    said, code = terminal.run(f"python examples/{program} empty.db")
    assert code == 1
    assert "WRONG" in said


def test_a_board_that_is_not_there_is_named(terminal):
    said, code = terminal.run("python examples/agent.py nowhere.db")
    assert code != 0
    assert "nowhere.db" in said


def test_a_way_that_there_is_not_is_told_which_there_are():
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "other_ways.py"), "telepathy"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr == "say which way: http or pydantic-ai\n"
