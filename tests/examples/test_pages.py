"""The pages that a builder of agents follows: each command on them gives what they show."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from transcripts import ROOT, Terminal, differ, files_of, shown

from real_servers import Background, free_port

TUTORIAL = (ROOT / "docs" / "tutorial" / "first-agent.md").read_text("utf-8")
FOUR = (ROOT / "docs" / "how-to" / "four-sources.md").read_text("utf-8")
PORT = "8765"
NO_TOOL = 1

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def terminal(tmp_path) -> Iterator[Terminal]:
    with Terminal(tmp_path) as terminal:
        yield terminal


def follow(terminal: Terminal, page: str) -> None:
    for command, expected in shown(page):
        said, code = terminal.run(command)
        assert not differ(said, expected), (
            f"$ {command}\n{said}\n--- but the page shows\n{expected}"
        )
        assert code == (NO_TOOL if expected.startswith("no tool fits") else 0), command


def test_the_tutorial_leads_from_an_empty_folder_to_an_agent_that_makes_a_tool(terminal):
    for name, code in files_of(TUTORIAL).items():
        (terminal.folder / name).write_text(code, "utf-8")
    assert (terminal.folder / "first.py").exists()
    follow(terminal, TUTORIAL)


@contextmanager
def library(terminal: Terminal) -> Iterator[str]:
    """The service, on a port that is free here; in the page and in the document it is that one."""
    port = str(free_port())
    four = terminal.folder / "pegboard" / "examples" / "four"
    document = four / "library.yaml"
    assert document.read_text("utf-8").count(PORT) == 1
    document.write_text(document.read_text("utf-8").replace(PORT, port), "utf-8")
    assert f"\npython pegboard/examples/four/library_service.py {PORT}\n" in FOUR
    command = [sys.executable, str(four / "library_service.py")]
    with Background(command, "open at", int(port)):
        yield FOUR.replace(PORT, port)


def test_four_commands_add_four_kinds_of_sources(terminal):
    terminal.run("pegboard init")
    with library(terminal) as page:
        adding = [command for command, _ in shown(page) if command.startswith("pegboard add")]
        assert len(adding) == 4
        follow(terminal, page)


def test_what_needs_the_service_is_refused_without_a_word_from_its_owner(terminal):
    """Why the page sets `run.loopback` first."""
    terminal.run("pegboard init")
    terminal.run("pegboard add openapi pegboard/examples/four/library.yaml")
    said, code = terminal.run("pegboard run findBooks --arg word=bread")
    assert "run.loopback" in said
    assert code == 11


def test_a_page_that_shows_something_else_is_noticed():
    shows = "score 0.89\n{'each': 30.8}"
    assert not differ("score 0.90\n{'each': 30.8}", shows)
    assert differ("score 0.71\n{'each': 30.8}", shows)
    assert differ("score 0.89\n{'each': 30.9}", shows)
    assert differ("score 0.89", shows)


def test_the_server_of_the_example_says_nothing_but_the_protocol(tmp_path):
    server = ROOT / "examples" / "four" / "shop_server.py"
    done = subprocess.run(
        [sys.executable, str(server)], input=b"", capture_output=True, timeout=60, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, b"")
