"""What is written for users agrees with the code."""

import re
from pathlib import Path

import click
import pytest

from pegboard.cli.main import cli
from pegboard.config.loading import env_name, known_settings
from pegboard.errors import EXIT_CODES, EXIT_INTERRUPTED
from pegboard.store.queries import migrations

ROOT = Path(__file__).parent.parent
COMMANDS = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
SETTINGS = (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8")


EVERYWHERE = ("board", "gateway", "token_file", "as_json")
"""Options that are told once, and not with each command."""


def leaf_commands(group: click.Group, prefix: str) -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        full = f"{prefix} {name}"
        nested = isinstance(command, click.Group)
        found += leaf_commands(command, full) if nested else [(full, command)]
    return found


ALL = leaf_commands(cli, "pegboard")


@pytest.mark.parametrize(("name", "command"), ALL, ids=[name for name, _ in ALL])
def test_every_command_and_its_options_are_in_the_reference(name, command):
    row = next((line for line in COMMANDS.splitlines() if line.startswith(f"| `{name}")), None)
    assert row, f"docs/reference/commands.md has no row for {name}"
    for option in command.params:
        if isinstance(option, click.Option) and option.name not in EVERYWHERE:
            assert f"`{option.opts[0]}" in row, f"{name} {option.opts[0]} is not in its row"


def test_no_help_points_at_a_file_that_an_installation_lacks():
    for name, command in leaf_commands(cli, "pegboard"):
        assert "docs/" not in command.get_help(click.Context(command)), name


def test_the_reference_names_no_command_that_is_not_there():
    row = r"^\| `(pegboard [a-z -]+?)(?: [A-Z\[].*?)?` \|"
    documented = re.findall(row, COMMANDS, re.MULTILINE)
    assert sorted(documented) == sorted(name for name, _ in ALL)


def test_every_setting_is_documented_with_its_default_and_variable():
    for key, kind, _, default in known_settings():
        shown = f'"{default}"' if kind is str else default
        assert f"| `{key}` | `{shown}` | `{env_name(key)}` |" in SETTINGS


def meaning(kind, metadata):
    """As the page has to say it, but for where more is told."""
    if choices := metadata.get("choices"):
        return f"{metadata['about']}; " + " \\| ".join(f"`{each}`" for each in choices)
    bounds = [
        f"{word} {metadata[name]:g}" if kind is float else f"{word} {metadata[name]}"
        for word, name in (("at least", "least"), ("at most", "most"))
        if name in metadata
    ]
    return "; ".join([metadata["about"], *([", ".join(bounds)] if bounds else [])])


def test_every_setting_is_told_in_the_words_of_the_code_with_its_bounds():
    rows = re.findall(
        r"^\| `([a-z0-9_.]+)` \|.*?\| `PEGBOARD_\w+` \| (.*) \|$", SETTINGS, re.MULTILINE
    )
    told = {key: re.sub(r"; see \[[^]]*\]\([^)]*\)", "", text) for key, text in rows}
    assert told == {key: meaning(kind, metadata) for key, kind, metadata, _ in known_settings()}


def test_no_setting_points_at_a_file_that_an_installation_lacks():
    assert [key for key, _, metadata, _ in known_settings() if ".md" in metadata["about"]] == []


def test_the_settings_page_documents_nothing_else():
    documented = re.findall(r"^\| `([a-z0-9_.]+)` \|", SETTINGS, re.MULTILINE)
    assert documented == [key for key, *_ in known_settings()]


def test_every_exit_code_is_documented():
    documented = {int(n) for n in re.findall(r"^\| (\d+) \|", COMMANDS, re.MULTILINE)}
    assert documented >= {0, 1, EXIT_INTERRUPTED, *EXIT_CODES.values()}


PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "benchmarks/README.md",
            "demo/README.md",
            "examples/README.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def anchors(page: Path) -> set[str]:
    """What a link behind a # can lead to, by the rules of those who show Markdown."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_in_the_documents_lead_somewhere(page):
    text = page.read_text("utf-8")
    pictures = [(source, "") for source in re.findall(r'src="([^"]+)"', text)]
    for target, anchor in pictures + re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
        if re.match("https?:", target):
            continue
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}#{anchor}"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "README.md" or name.startswith("decisions/") or f"]({name})" in index, name


def test_the_schemas_in_transcripts_are_those_of_this_pegboard():
    """Which number is of which database, the page and the line say."""
    files, servers = (str(len(migrations(each))) for each in ("sqlite", "postgres"))
    operate = (ROOT / "docs" / "operate.md").read_text("utf-8")
    postgres = (ROOT / "docs" / "how-to" / "postgres.md").read_text("utf-8")
    assert set(re.findall(r"^schema (\d+),", operate, re.MULTILINE)) == {files}
    assert re.findall(r"this Pegboard knows (\d+)", operate) == [files]
    shown = re.findall(r"schema +(\d+)(?: of (\d+)|, the newest)", postgres)
    assert shown == [(servers, servers), (servers, "")]
