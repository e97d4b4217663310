import subprocess
import sys
from pathlib import Path

import pytest
from process_parts import WAIT, needs_groups

from pegboard.execute.job import Limits
from pegboard.execute.process import groups
from pegboard.execute.process.groups import Groups, find_groups, noted_groups
from waiting import until

OWN = "9:name=systemd:/\n8:pids:/a\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/c\n"


def places(own: str, *mounts: tuple[str, ...]) -> dict[str, str]:
    """Of which only those count that are there."""
    lines = "\n".join(
        f"30 25 0:26 {root} {point} rw,relatime shared:9 - {kind} cgroup {options}"
        for root, point, kind, options in mounts
    )
    found = groups._places(groups._own(own), lines)
    return {name: str(path) for name, path in found.items()}


def test_our_own_group_is_found_in_each_hierarchy(tmp_path):
    for name in ("pids/a", "memory/a/b", "cpu", "unified/c"):
        (tmp_path / name).mkdir(parents=True)
    found = places(
        OWN,
        ("/", f"{tmp_path}/pids", "cgroup", "rw,pids"),
        ("/", f"{tmp_path}/memory", "cgroup", "rw,memory"),
        ("/", f"{tmp_path}/cpu", "cgroup", "rw,cpu,cpuacct"),
        ("/", f"{tmp_path}/unified", "cgroup2", "rw"),
        ("/", f"{tmp_path}/gone", "cgroup", "rw,freezer"),
        ("/", "/", "ext4", "rw"),
    )
    assert found == {
        "pids": f"{tmp_path}/pids/a",
        "memory": f"{tmp_path}/memory/a/b",
        "cpu": f"{tmp_path}/cpu",
        "cpuacct": f"{tmp_path}/cpu",
        "": f"{tmp_path}/unified/c",
    }


def test_a_container_sees_its_own_part_of_the_tree(tmp_path):
    assert places("0::/docker/x", ("/docker/x", str(tmp_path), "cgroup2", "rw")) == {
        "": str(tmp_path)
    }


@pytest.fixture
def tree(tmp_path) -> Path:
    """A place with both controllers, as the kernel would show it, but of plain files."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "cgroup.subtree_control").write_text("memory pids\n")
    return tmp_path / "own"


@pytest.mark.program
def test_a_group_of_version_2_has_one_folder_with_all_limits(tree):
    folder = tree / "pegboard-r-1"
    folder.mkdir()
    for name in ("pids.max", "memory.max", "memory.swap.max", "memory.oom.group", "cgroup.procs"):
        (folder / name).write_text("")
    made = Groups(dict.fromkeys(("pids", "memory"), tree), unified=True).make("r-1", Limits())
    assert made is not None
    assert made.entrances == (f"{folder}/cgroup.procs",)
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "cgroup.procs": "",
        "pids.max": "66",
        "memory.max": str(1 << 30),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
    }
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (folder / "pids.events").write_text("max 0\n")
    assert (made.ran_out_of_memory(), made.ran_out_of_processes()) == (True, False)
    with subprocess.Popen(["sleep", "1000"]) as process:
        (folder / "cgroup.procs").write_text(f"{process.pid}\n")
        (folder / "cgroup.kill").write_text("")
        made.kill()
    assert (folder / "cgroup.kill").read_text() == "1"


def test_a_place_in_version_2_is_used_only_if_it_can_be_entered(tree, monkeypatch):
    monkeypatch.setattr(groups, "_is_ours", lambda folder: False)
    monkeypatch.setattr(groups, "_can_use", lambda base, entrance: base == tree)
    found = groups._unified(tree)
    assert found == Groups({"pids": tree, "memory": tree}, unified=True)
    monkeypatch.setattr(groups, "_can_use", lambda base, entrance: False)
    assert groups._unified(tree) is None


def test_beside_our_own_group_only_if_that_place_is_ours(tree, monkeypatch):
    (tree / "cgroup.subtree_control").unlink()
    (tree / "cgroup.subtree_control").mkdir()  # cannot be written, as with processes in the group
    (tree.parent / "cgroup.subtree_control").write_text("memory pids")
    monkeypatch.setattr(groups, "_can_use", lambda base, entrance: True)
    monkeypatch.setattr(groups, "_is_ours", lambda folder: False)
    assert groups._unified(tree) is None
    monkeypatch.setattr(groups, "_is_ours", lambda folder: True)
    found = groups._unified(tree)
    assert found is not None
    assert found.bases["pids"] == tree.parent


@pytest.mark.program
@needs_groups
def test_a_group_is_made_and_removed():
    found = find_groups()
    made = found.make("test-1", Limits(processes=5))
    assert (made.folders["pids"] / "pids.max").read_text().strip() == "7"
    assert [each.folders for each in found.left_by("test")] == [made.folders]
    with subprocess.Popen(["sh", "-c", 'echo 0 >"$0"; exec sleep 1000', made.entrances[0]]):
        until(lambda: (made.folders["pids"] / "cgroup.procs").read_text() != "")
        assert not made.remove()
        assert made.end(WAIT)
    assert made.remove()
    assert not list(found.left_by("test"))


def test_where_groups_are_made_is_noted_for_whoever_clears_up(tmp_path):
    noted = Groups({"pids": tmp_path / "a", "memory": tmp_path / "b"}, unified=False)
    noted.note(tmp_path / "groups.json")
    assert noted_groups(tmp_path / "groups.json") == noted
    assert noted_groups(tmp_path / "not there") is None
    (tmp_path / "groups.json").write_text("[]")
    assert noted_groups(tmp_path / "groups.json") is None


@needs_groups
def test_where_none_can_be_made_there_is_none(tmp_path):
    assert Groups({"pids": tmp_path / "not there"}, unified=False).make("r-1", Limits()) is None


KILLING = """
import sys
from pathlib import Path
from pegboard.execute.process.groups import Group
Group({"pids": Path(sys.argv[1])}, unified=False).kill()
print("alive")
"""


@pytest.mark.program
def test_a_process_that_cannot_be_seen_from_here_is_not_taken_for_all_of_our_own(tmp_path):
    (tmp_path / "cgroup.procs").write_text("0\n")
    (tmp_path / "pids.max").touch()
    ran = subprocess.run(
        [sys.executable, "-c", KILLING, tmp_path], capture_output=True, start_new_session=True
    )
    assert ran.stdout == b"alive\n"
