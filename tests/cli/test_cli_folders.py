"""`.ai` folders by the command: one command and they are on the board."""

import pytest

TOOL = 'def run():\n    """{}"""\n'
MANIFEST = """tool_id: deploy
tool_type: bash
description: Put a build on the servers.
executor_config:
  entrypoint: run.sh
"""


def ids(ran):
    return [hit["id"] for hit in ran.json["hits"]]


@pytest.fixture
def write(desk):
    def make(path, text):
        place = desk / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    return make


@pytest.fixture
def ai(desk, write):
    """A project with something in every layout."""
    write(".ai/tools/ops/release.py", TOOL.format("Cut a release and tag it."))
    write(".ai/tools/ops/deploy/tool.yaml", MANIFEST)
    write(".ai/tools/ops/deploy/run.sh", "echo\n")
    write(".ai/scripts/data/clean.py", '"""Clean up a table of customers."""\nprint()\n')
    write(
        ".ai/directives/review.md",
        "# Review\n\n```xml\n"
        '<directive name="review" version="1.0.0"><metadata><description>Review a pull request.'
        "</description></metadata><process><step name='read'><action>Read the diff.</action></step>"
        "</process></directive>\n```\n",
    )
    write(
        ".ai/knowledge/http/retries.md",
        "---\nid: retries\ntitle: Retries\ntype: concept\n---\n\nWait longer after each failure.\n",
    )
    write(
        ".ai/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fill in forms that are PDF files.\n---\n\n# Forms\n",
    )
    return desk / ".ai"


def test_a_projects_ai_folder_is_on_the_board_after_one_command(pegboard, ai):
    pegboard("init")
    ran = pegboard("add", "folder", ".ai")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"added ai: {ai}",
        "ai: 6 added, 0 changed, 0 unchanged, 0 gone",
        "embedded 6, 0 waiting",
        'next: pegboard search "..."',
    ]
    for query, found in {
        "tag a release": "tools:ops:release",
        "put a build on the servers": "tools:ops:deploy",
        "clean a table": "scripts:data:clean",
        "review a pull request": "directives::review",
        "wait after each failure": "knowledge:http:retries",
        "fill in PDF forms": "skills::pdf",
    }.items():
        assert ids(pegboard("search", query, "--json"))[0] == found, query


def test_init_names_the_ai_folder_that_a_project_has(pegboard, ai):
    assert "pegboard add folder .ai" in pegboard("init").out


def test_the_project_itself_can_be_given(pegboard, ai):
    pegboard("init")
    assert pegboard("add", "folder", ".").out.startswith(f"added ai: {ai}\n")


def test_your_own_folder_is_added_by_a_flag(pegboard, tmp_path, write):
    pegboard("init")
    missing = pegboard("add", "folder", "--user")
    assert missing.code == 5
    assert str(tmp_path / "home/.ai") in missing.err
    own = tmp_path / "home/.ai/tools"
    own.mkdir(parents=True)
    (own / "greet.py").write_text(TOOL.format("Greet somebody."))
    ran = pegboard("add", "folder", "--user", "--json")
    assert (ran.json["name"], ran.json["kind"]) == ("user", "user_folder")
    assert ran.json["sync"]["added"] == 1


@pytest.mark.parametrize("args", [(), (".ai", "--user")])
def test_either_a_path_or_your_own_folder_is_added(pegboard, ai, args):
    pegboard("init")
    ran = pegboard("add", "folder", *args)
    assert ran.code == 2
    assert "PATH or --user" in ran.err


def test_what_is_left_beside_python_tools_is_told(pegboard, tools, ai):
    pegboard("init")
    ai.rename(tools.root / ".ai")
    ran = pegboard("add", "folder", "tools")
    assert ran.code == 0
    assert f"pegboard add folder {tools.root / '.ai'}" in ran.err
    (tools.root / ".ai").rename(ai)
    (tools.root / "skills").mkdir()
    assert "skills/ beside the tools are not read" in pegboard("add", "folder", "tools").err


def test_what_is_refused_is_counted_and_told(pegboard, ai, write):
    write(".ai/tools/broken/script.sh", "echo\n")
    write(".ai/skills/nothing/notes.txt", "x")
    pegboard("init")
    ran = pegboard("add", "folder", ".ai")
    assert ran.code == 0
    assert "refused: 2 (no_manifest 1, no_skill 1)" in ran.out
    shown = pegboard("rejections").out
    assert "refused    2; see: pegboard rejections\n" in pegboard("status").out
    assert "ai / tools/broken  no_manifest" in shown
    assert "has no tool.yaml" in shown


def test_the_project_goes_before_your_own_folder(pegboard, ai, tmp_path):
    own = tmp_path / "home/.ai/tools/ops"
    own.mkdir(parents=True)
    (own / "release.py").write_text(TOOL.format("Release as I like it."))
    pegboard("init")
    pegboard("add", "folder", "--user")
    assert pegboard("add", "folder", ".ai").code == 0
    shown = pegboard("show", "tools:ops:release", "--json").json["item"]
    assert (shown["source"], shown["description"]) == ("ai", "Cut a release and tag it.")
    assert "'ai', which goes before" in pegboard("rejections").out
    (ai / "tools/ops/release.py").unlink()
    pegboard("sync")
    assert pegboard("show", "tools:ops:release", "--json").json["item"]["source"] == "user"


def test_everything_about_an_item_is_shown_also_what_it_says_and_asks_for(pegboard, ai, write):
    write(".ai/tools/ops/deploy/tool.yaml", MANIFEST + "permissions: [read filesystem dist/**]\n")
    pegboard("init")
    pegboard("add", "folder", ".ai")
    tool = pegboard("show", "deploy").out
    assert "  files      run.sh, tool.yaml\n" in tool
    assert "  asks for   read filesystem dist/**\n" in tool
    assert "As written" not in tool
    for name, path in {
        "review": "directives/review.md",
        "retries": "knowledge/http/retries.md",
        "pdf": "skills/pdf/SKILL.md",
    }.items():
        shown = pegboard("show", name).out
        assert shown.endswith(f"\nAs written:\n{(ai / path).read_text().rstrip()}\n"), name
