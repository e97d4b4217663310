"""`.ai` folders on a board: a project's, a person's own, and both at once."""

import shutil
import threading
from pathlib import Path

import pytest

from pegboard.app.live import kept
from pegboard.errors import SourceError, UsageError

STORES = ("sqlite", "postgres")
BOUND = 20.0
MANIFEST = """tool_id: {name}
tool_type: bash
version: 1.0.0
description: {text}
executor_config:
  entrypoint: run.sh
"""
KNOWLEDGE = "---\nid: {name}\ntitle: {name}\ntype: concept\n---\n\n{text}\n"
SKILL = "---\nname: {name}\ndescription: {text}\n---\n\n# How\n\nStep by step.\n"


class Ai:
    """A `.ai` folder that a test can change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "tools").mkdir(parents=True)

    def raw(self, path: str, text: str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    def tool(self, path: str, text: str) -> Path:
        return self.raw(f"tools/{path}.py", f'def run():\n    """{text}"""\n')

    def folder_tool(self, path: str, text: str) -> Path:
        name = path.rpartition("/")[2]
        self.raw(f"tools/{path}/run.sh", "echo\n")
        return self.raw(f"tools/{path}/tool.yaml", MANIFEST.format(name=name, text=text)).parent

    def knowledge(self, path: str, text: str) -> Path:
        name = path.rpartition("/")[2]
        return self.raw(f"knowledge/{path}.md", KNOWLEDGE.format(name=name, text=text))

    def skill(self, name: str, text: str) -> Path:
        return self.raw(f"skills/{name}/SKILL.md", SKILL.format(name=name, text=text))


@pytest.fixture
def project(tmp_path):
    return Ai(tmp_path / "project/.ai")


@pytest.fixture
def own(tmp_path):
    """The `.ai` folder in the home of whoever runs the test, which is nobody's."""
    return Ai(tmp_path / "home/.ai")


@pytest.fixture
def empty(opened):
    return opened()


def found(board, query):
    return {hit.id: hit.description for hit in board.search(query, mode="bm25").hits}


def refused(board):
    return {(each.source, each.origin): each.code for each in board.rejections()}


# What a folder is added as


@pytest.mark.parametrize("path", ["project/.ai", "project", "project/sub/.."])
def test_a_project_is_added_by_its_folder_or_by_the_ai_folder_in_it(empty, project, tmp_path, path):
    (tmp_path / "project/sub").mkdir()
    (tmp_path / "project/scripts").mkdir()
    record = empty.add_folder(tmp_path / path)
    assert (record.name, record.kind, record.location) == ("ai", "folder", str(project.root))


def test_any_folder_that_holds_one_of_the_layouts_can_be_added(empty, tmp_path):
    (tmp_path / "Shared Things/skills").mkdir(parents=True)
    record = empty.add_folder(tmp_path / "Shared Things")
    assert (record.name, record.kind) == ("shared-things", "folder")


def test_the_folder_at_home_is_a_persons_own(empty, own):
    record = empty.add_folder("~/.ai")
    assert (record.name, record.kind, record.location) == ("user", "user_folder", str(own.root))


def test_folders_of_python_tools_go_before_what_stands_beside_them(empty, folder):
    (folder.root / ".ai/tools").mkdir(parents=True)
    (folder.root / "skills").mkdir()
    assert empty.add_folder(folder.root).kind == "pytools"
    assert empty.add_folder(folder.root / ".ai").kind == "folder"


@pytest.mark.parametrize("path", ["nowhere", "project/.ai/tools", "empty", "empty/.ai"])
def test_what_holds_nothing_to_read_is_refused(empty, project, tmp_path, path):
    (tmp_path / "empty/.ai").mkdir(parents=True)
    with pytest.raises(SourceError) as caught:
        empty.add_folder(tmp_path / path)
    assert "tools" in caught.value.hint
    assert empty.sources() == []


def test_two_projects_need_two_names(empty, project, tmp_path):
    other = Ai(tmp_path / "other/.ai")
    empty.add_folder(project.root)
    with pytest.raises(UsageError, match="'ai' is already"):
        empty.add_folder(other.root)
    assert empty.add_folder(other.root, name="other").kind == "folder"


# On the board


def test_every_layout_is_found_and_an_unchanged_folder_costs_nothing(empty, project):
    project.tool("ops/release", "Cut a zebra release.")
    project.folder_tool("ops/lint", "Lint the zebra code.")
    project.knowledge("zoo/animals", "A zebra has stripes.")
    project.skill("riding", "Ride a zebra.")
    empty.add_folder(project.root)
    first = empty.sync()
    assert (first.sources[0].added, dict(first.sources[0].rejected)) == (4, {})
    assert found(empty, "zebra").keys() == {
        "tools:ops:release",
        "tools:ops:lint",
        "knowledge:zoo:animals",
        "skills::riding",
    }
    again = empty.sync()
    assert (again.sources[0].unchanged, again.work.embedded) == (4, 0)
    assert empty.check() == []


def test_a_tool_keeps_every_byte_of_its_files(empty, project):
    place = project.folder_tool("lint", "Lint the code.")
    (place / "data.bin").write_bytes(bytes(range(256)) * 1000)
    (place / "run.sh").chmod(0o755)
    empty.add_folder(project.root)
    empty.sync()
    version = empty.show("tools::lint").item.version
    assert version.manifest_text == (place / "tool.yaml").read_text()
    kept_files = {file.path: (file.content, file.executable) for file in version.files}
    assert kept_files == {
        "data.bin": ((place / "data.bin").read_bytes(), False),
        "run.sh": (b"echo\n", True),
        "tool.yaml": ((place / "tool.yaml").read_bytes(), False),
    }


def test_a_file_that_becomes_executable_is_so_on_the_board(empty, project):
    place = project.folder_tool("lint", "Lint the code.")
    empty.add_folder(project.root)
    empty.sync()
    (place / "run.sh").chmod(0o755)
    assert empty.sync().sources[0].changed == 1
    version = empty.show("tools::lint").item.version
    assert {file.path for file in version.files if file.executable} == {"run.sh"}


def test_so_many_large_tools_are_never_in_memory_at_once(empty, project, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.one_source.BATCH_BYTES", 100_000)
    for number in range(6):
        place = project.folder_tool(f"tool{number}", "Carry data.")
        (place / "data.txt").write_text("x" * 60_000)
    put, together = empty.store.items.put, []

    def counted(items, *args, **options):
        together.append(len(items))
        return put(items, *args, **options)

    monkeypatch.setattr(empty.store.items, "put", counted)
    empty.add_folder(project.root)
    empty.sync()
    assert together == [2, 2, 2]


def partial(board, *paths):
    [report] = board.sync(["ai"], under=paths).sources
    return report


def test_a_changed_part_brings_its_tool_up_to_date_and_leaves_the_others(empty, project):
    place = project.folder_tool("ops/lint", "Lint the code.")
    project.tool("ops/release", "Cut a release.")
    project.tool("send", "Send a letter.")
    empty.add_folder(project.root)
    empty.sync()
    project.folder_tool("ops/lint", "Check the zebra.")
    assert (partial(empty, "tools/ops/lint/tool.yaml").changed) == 1
    assert found(empty, "zebra").keys() == {"tools:ops:lint"}
    (place / "tool.yaml").unlink()
    got = partial(empty, "tools/ops/lint/tool.yaml")
    assert (got.retired, dict(got.rejected)) == (1, {"no_manifest": 1})
    assert found(empty, "zebra") == {}
    shutil.rmtree(place)
    assert partial(empty, "tools/ops/lint").unchanged == 1
    assert refused(empty) == {}
    assert found(empty, "release send").keys() == {"tools:ops:release", "tools::send"}


def test_a_category_that_becomes_a_tool_takes_its_tools_with_it_and_gives_them_back(empty, project):
    project.tool("ops/release", "Cut a zebra release.")
    empty.add_folder(project.root)
    empty.sync()
    project.folder_tool("ops", "All the zebra operations.")
    got = partial(empty, "tools/ops/tool.yaml", "tools/ops/run.sh")
    assert (got.added, got.retired) == (1, 1)
    assert found(empty, "zebra").keys() == {"tools::ops"}
    for name in ("tool.yaml", "run.sh"):
        (project.root / "tools/ops" / name).unlink()
    got = partial(empty, "tools/ops/tool.yaml", "tools/ops/run.sh")
    assert found(empty, "zebra").keys() == {"tools:ops:release"}


# A project's folder and a person's own


@pytest.fixture
def both(empty, project, own):
    """Both folders on one board, with one id that both have."""
    project.tool("ops/release", "Release as the project does.")
    own.tool("ops/release", "Release as I do.")
    own.tool("ops/notes", "Release notes of my own.")
    empty.add_folder(own.root)
    empty.add_folder(project.root)
    empty.sync()
    return empty


SHARED = "tools:ops:release"


def test_what_a_project_has_goes_before_what_a_person_has(both):
    assert found(both, "release") == {
        SHARED: "Release as the project does.",
        "tools:ops:notes": "Release notes of my own.",
    }
    assert refused(both) == {("user", "tools/ops/release.py"): "id_taken"}
    [rejection] = both.rejections()
    assert "'ai', which goes before" in rejection.reason
    assert both.check() == []


def test_it_does_not_matter_which_of_them_is_read_first(empty, project, own):
    own.tool("ops/release", "Release as I do.")
    project.tool("ops/release", "Release as the project does.")
    empty.add_folder(own.root)
    empty.sync()
    assert found(empty, "release") == {SHARED: "Release as I do."}
    empty.add_folder(project.root)
    [report] = empty.sync(["ai"]).sources
    assert dict(report.rejected) == {}
    assert found(empty, "release") == {SHARED: "Release as the project does."}
    assert refused(empty) == {("user", "tools/ops/release.py"): "id_taken"}
    empty.sync(["user"])
    assert found(empty, "release") == {SHARED: "Release as the project does."}


def test_it_is_the_same_at_every_further_sync(both):
    for full in (False, True):
        outcome = both.sync(full=full)
        changed = [each.added + each.changed + each.retired for each in outcome.sources]
        assert changed == [0, 0]
        assert found(both, "release")[SHARED] == "Release as the project does."


@pytest.mark.parametrize("names", [(), ("ai",)])
def test_when_the_projects_is_gone_the_persons_own_comes_back(both, project, names):
    (project.root / "tools/ops/release.py").unlink()
    both.sync(names)
    assert found(both, "release")[SHARED] == "Release as I do."
    assert refused(both) == {}
    assert both.check() == []


def test_when_the_project_is_removed_the_next_sync_brings_the_persons_own_back(both):
    both.remove_source("ai")
    both.sync()
    assert found(both, "release")[SHARED] == "Release as I do."


def test_a_projects_item_that_breaks_lets_the_persons_own_in_until_it_is_mended(both, project):
    path = project.root / "tools/ops/release.py"
    content = path.read_text()
    path.write_text("def (")
    both.sync()
    assert found(both, "release")[SHARED] == "Release as I do."
    path.write_text(content)
    both.sync()
    assert found(both, "release")[SHARED] == "Release as the project does."


def test_in_namespaces_of_their_own_both_hang(empty, project, own):
    project.tool("ops/release", "Release as the project does.")
    own.tool("ops/release", "Release as I do.")
    empty.add_folder(own.root, namespace="me")
    empty.add_folder(project.root)
    empty.sync()
    assert len(empty.search("release", mode="bm25").hits) == 2
    assert refused(empty) == {}


def test_two_projects_do_not_push_one_another_out(empty, project, tmp_path):
    other = Ai(tmp_path / "other/.ai")
    project.tool("ops/release", "Release as the first does.")
    other.tool("ops/release", "Release as the second does.")
    empty.add_folder(project.root)
    empty.add_folder(other.root, name="other")
    empty.sync()
    assert found(empty, "release") == {SHARED: "Release as the first does."}
    assert refused(empty) == {("other", "tools/ops/release.py"): "id_taken"}
    (project.root / "tools/ops/release.py").unlink()
    empty.sync(["ai"])
    assert found(empty, "release") == {SHARED: "Release as the second does."}


def test_a_folder_that_waits_on_another_machine_is_left_alone(both, project, own):
    own.root.rename(own.root.with_name("elsewhere"))
    (project.root / "tools/ops/release.py").unlink()
    [report] = both.sync(["ai"]).sources
    assert (report.source, report.retired, report.error) == ("ai", 1, "")
    assert refused(both) == {("user", "tools/ops/release.py"): "id_taken"}


# Tools and scripts


@pytest.mark.parametrize("under", [False, True])
def test_a_script_steps_back_for_a_tool_of_its_name_and_comes_again(empty, project, under):
    project.raw("scripts/ops/release.py", '"""Release as ever."""\n')
    empty.add_folder(project.root)
    empty.sync()
    assert found(empty, "release") == {"scripts:ops:release": "Release as ever."}
    tool = project.tool("ops/release", "Release anew.")
    part = ["tools/ops/release.py"] if under else []
    empty.sync(under=part)
    assert found(empty, "release") == {"tools:ops:release": "Release anew."}
    assert empty.show("ops__release").item.id == "tools:ops:release"
    assert refused(empty) == {("ai", "scripts/ops/release.py"): "shadowed"}
    tool.unlink()
    empty.sync(under=part)
    assert found(empty, "release") == {"scripts:ops:release": "Release as ever."}
    assert refused(empty) == {}


# Live


class News:
    """Waits until the board says what is expected of it."""

    def __init__(self) -> None:
        self._news = threading.Condition()

    def __call__(self) -> None:
        with self._news:
            self._news.notify_all()

    def wait(self, seen) -> None:
        with self._news:
            assert self._news.wait_for(seen, BOUND)


@pytest.fixture
def news():
    return News()


def test_every_layout_is_watched(empty, project, news):
    empty.add_folder(project.root)
    with kept(empty, on_change=news):
        tool = project.folder_tool("ops/lint", "Lint the zebra code.")
        project.knowledge("zoo/animals", "A zebra has stripes.")
        skill = project.skill("riding", "Ride a zebra.")
        everything = {"tools:ops:lint", "knowledge:zoo:animals", "skills::riding"}
        news.wait(lambda: found(empty, "zebra").keys() == everything)
        (tool / "_part.sh").write_text("echo part\n")
        lint = lambda: empty.show("tools:ops:lint").item.version.files  # noqa: E731
        news.wait(lambda: "_part.sh" in {file.path for file in lint()})
        skill.unlink()
        (tool / "tool.yaml").unlink()
        news.wait(lambda: found(empty, "zebra").keys() == {"knowledge:zoo:animals"})
        project.tool("send", "Send a zebra.")
        news.wait(lambda: "tools::send" in found(empty, "zebra"))
    assert empty.check() == []


def test_a_persons_own_item_goes_and_comes_back_by_itself(empty, project, own, news):
    own.tool("ops/release", "Release as I do.")
    empty.add_folder(own.root)
    empty.add_folder(project.root)
    with kept(empty, on_change=news):
        news.wait(lambda: found(empty, "release") == {SHARED: "Release as I do."})
        path = project.tool("ops/release", "Release as the project does.")
        news.wait(lambda: found(empty, "release") == {SHARED: "Release as the project does."})
        path.unlink()
        news.wait(lambda: found(empty, "release") == {SHARED: "Release as I do."})
    assert refused(empty) == {}


def test_a_persons_own_item_comes_back_when_the_project_is_removed(
    empty, project, own, news, monkeypatch
):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    own.tool("ops/release", "Release as I do.")
    project.tool("ops/release", "Release as the project does.")
    empty.add_folder(own.root)
    empty.add_folder(project.root)
    with kept(empty, on_change=news):
        news.wait(lambda: found(empty, "release") == {SHARED: "Release as the project does."})
        empty.remove_source("ai")
        news.wait(lambda: found(empty, "release") == {SHARED: "Release as I do."})
