"""Permissions as paths: what a pattern means, and that no link leads out of a project."""

from pathlib import Path

import pytest

from making import make_item
from pegboard.errors import UsageError
from pegboard.execute import grants
from pegboard.execute.grants import Ground, grants_of
from pegboard.model.content import Access, Permission, Resource


@pytest.fixture
def ground(tmp_path):
    project = tmp_path / "project"
    for name in ("a.txt", "b.md", "src/one.py", "src/deep/two.py", "data/x/1.csv", "data/y/2.csv"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    return Ground(project, tmp_path / "home", (tmp_path / "keys",))


def granted(ground, *scopes, access=Access.READ):
    asked = tuple(Permission(access, Resource.FILESYSTEM, scope) for scope in scopes)
    return grants_of(make_item("x", permissions=asked), ground)


@pytest.mark.parametrize(
    ("scope", "means"),
    [
        ("**", {""}),
        ("*", {"a.txt", "b.md"}),
        ("*.md", {"b.md"}),
        ("src/**", {"src"}),
        ("src", {"src"}),
        ("src/*.py", {"src/one.py"}),
        ("src/**/*.py", {"src/one.py", "src/deep/two.py"}),
        ("data/*/**", {"data/x", "data/y"}),
        ("a.txt", {"a.txt"}),
        ("nowhere/**", set()),
    ],
)
def test_a_pattern_means_what_is_there(ground, scope, means):
    found = granted(ground, scope)
    root = ground.project.resolve()
    assert {path.relative_to(root).as_posix().removeprefix(".") for path in found.read} == means
    assert (found.write, found.hidden, found.project) == ((), ground.hidden, root)


def test_whole_paths_and_the_home_folder_can_be_named(ground):
    found = granted(ground, "~/.ssh/**", "/etc/hostname")
    assert found.read == (ground.home / ".ssh", Path("/etc/hostname"))


def test_who_is_granted_something_in_the_home_folder_knows_where_that_is(ground):
    assert granted(ground, "~/.ssh/**").variables == ("HOME",)
    assert granted(ground, "src/**", "/etc/hostname").variables == ()


def test_a_link_in_a_project_does_not_lead_out_of_it(ground):
    (ground.project / "out").symlink_to("/etc")
    (ground.project / "hosts.txt").symlink_to("/etc/hosts")
    (ground.project / "near").symlink_to("src")
    assert granted(ground, "out/**", "hosts.txt", "out/hosts", "*.txt").read == (
        ground.project / "a.txt",
    )
    assert granted(ground, "near/**").read == (ground.project / "src",)


def test_a_folder_that_may_be_written_is_made(ground):
    found = granted(ground, "dist/web/**", access=Access.WRITE)
    assert found.write == (ground.project / "dist" / "web",)
    (ground.project / "gone").symlink_to(ground.home)
    assert granted(ground, "gone/new/**", access=Access.WRITE).write == ()
    assert not (ground.home / "new").exists()


def test_what_others_act_on_stays_as_it_is_unless_it_is_named(ground):
    (ground.project / ".git").mkdir()
    (ground.project / "pegboard.toml").touch()
    found = granted(ground, "**", access=Access.WRITE)
    assert found.write == (ground.project,)
    assert set(found.read) == {ground.project / ".git", ground.project / "pegboard.toml"}
    named = granted(ground, "**", ".git/**", access=Access.WRITE)
    assert named.write == (ground.project, ground.project / ".git")
    assert named.read == (ground.project / "pegboard.toml",)
    assert granted(ground, "src/**", access=Access.WRITE).read == ()


def test_what_may_be_written_is_not_granted_twice(ground):
    asked = (
        Permission(Access.READ, Resource.FILESYSTEM, "src/**"),
        Permission(Access.WRITE, Resource.FILESYSTEM, "src/**"),
    )
    found = grants_of(make_item("x", permissions=asked), ground)
    assert (found.read, found.write) == ((), (ground.project / "src",))


def test_a_pattern_that_means_too_many_files_is_refused(ground, monkeypatch):
    monkeypatch.setattr(grants, "MOST_FILES", 2)
    with pytest.raises(UsageError, match=r"'\*\*/\*' means more than 2 files"):
        granted(ground, "**/*")


def test_what_the_file_system_has_no_place_for_is_refused_with_the_reason(ground):
    with pytest.raises(UsageError, match=r"cannot be granted: .*File name too long"):
        granted(ground, "a" * 290)
    with pytest.raises(UsageError, match=r"to write 'a.txt/\*\*' cannot be granted: .*exists"):
        granted(ground, "a.txt/**", access=Access.WRITE)
    with pytest.raises(UsageError, match=r"cannot be granted: .*Not a directory"):
        granted(ground, "a.txt/in/**", access=Access.WRITE)
    (ground.project / "round").symlink_to("round")
    assert granted(ground, "round/**", "round").read == ()


def test_network_and_variables_are_granted_as_they_are_asked_for(ground):
    asked = (
        Permission(Access.CONNECT, Resource.NETWORK, "x.example.com"),
        Permission(Access.READ, Resource.ENVIRONMENT, "LANG"),
    )
    found = grants_of(make_item("x", permissions=asked), ground)
    assert (found.network, found.variables) == (True, ("LANG",))
    assert not granted(ground).network
