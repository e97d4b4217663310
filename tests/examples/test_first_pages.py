"""What the README and the tutorials for people show is what comes."""

import re

import pytest
from transcripts import ROOT, Shown, Terminal, differ, shown

README = (ROOT / "README.md").read_text("utf-8")
TUTORIALS = ("first-board.md", "first-registry.md")
MADE_ANEW = re.compile(r"\b[0-9a-f]{32,64}\b|(?<=pegboard-ed25519 )\S+")
"""Keys, and hashes of what is signed with them."""


def unlike(terminal: Terminal, expected: list[Shown]) -> list[tuple[Shown, str]]:
    came = [(each, terminal.run(each.command)[0]) for each in expected]
    return [
        (each, output)
        for each, output in came
        if differ(MADE_ANEW.sub("#", output), MADE_ANEW.sub("#", each.output))
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", TUTORIALS)
def test_the_tutorials_show_what_comes(tmp_path, page):
    expected = shown((ROOT / "docs" / "tutorial" / page).read_text("utf-8"))
    assert len(expected) > 10
    with Terminal(tmp_path) as terminal:
        assert unlike(terminal, expected) == []


@pytest.mark.timeout(300)
def test_the_readme_shows_what_comes(tmp_path):
    expected = [each for each in shown(README) if each.command.startswith("pegboard ")]
    assert len(expected) >= 6
    with Terminal(tmp_path) as terminal:
        terminal.run("pegboard init && pegboard add folder pegboard/demo")
        assert unlike(terminal, expected) == []


def test_commands_and_what_they_print_are_told_apart():
    page = "text\n\n```\n$ cat > a <<'END'\n$ no command\nEND\n$ ls\na\n\nb\n```\n"
    assert shown(page) == [
        Shown("cat > a <<'END'\n$ no command\nEND", ""),
        Shown("ls", "a\n\nb"),
    ]


def test_a_page_that_shows_something_else_is_found_out():
    assert not differ("score 0.42", "score 0.44")
    assert differ("score 0.42", "score 0.52")
    assert differ("score 0.42 both", "score 0.42 fuzzy")
