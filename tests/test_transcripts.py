"""What the README and the first tutorial show is what comes, to the letter."""

import os
import sys
from pathlib import Path

import pytest

from transcripts import Shown, differs, printed, transcript

ROOT = Path(__file__).parent.parent


@pytest.fixture
def shell(tmp_path):
    """A new project's folder, and an environment in which `pegboard` is the one under test."""
    folder = tmp_path / "my-project"
    folder.mkdir()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"}
    return lambda command: printed(command, folder, environment)


def unlike(shown: list[Shown], shell) -> list[tuple[Shown, str]]:
    came = [(each, shell(each.command)) for each in shown]
    return [(each, output) for each, output in came if differs(each.output, output)]


@pytest.mark.timeout(300)
def test_the_first_tutorial_shows_what_comes(shell):
    shown = transcript((ROOT / "docs" / "tutorial" / "first-board.md").read_text("utf-8"))
    assert len(shown) > 10
    assert unlike(shown, shell) == []


@pytest.mark.timeout(300)
def test_the_readme_shows_what_comes(shell):
    shown = transcript((ROOT / "README.md").read_text("utf-8"))
    asked = [each for each in shown if each.command.startswith("pegboard ")]
    assert len(asked) >= 6
    shell(f"pegboard init && pegboard add folder '{ROOT / 'demo'}'")
    assert unlike(asked, shell) == []


def test_commands_and_what_they_print_are_told_apart():
    page = "text\n\n```console\n$ cat > a <<'END'\n$ no command\nEND\n$ ls\na\n\nb\n```\n"
    assert transcript(page) == [
        Shown("cat > a <<'END'\n$ no command\nEND", ""),
        Shown("ls", "a\n\nb"),
    ]


def test_a_page_that_shows_something_else_is_found_out():
    assert not differs("score 0.42", "score 0.44")
    assert differs("score 0.42", "score 0.52")
    assert differs("score 0.42 both", "score 0.42 fuzzy")
