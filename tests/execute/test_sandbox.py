"""The arguments of bubblewrap as they are written; `test_escapes` proves what they do."""

from itertools import pairwise
from pathlib import Path

import pytest

from pegboard.execute.job import Grants
from pegboard.execute.process.sandbox import (
    Bubblewrap,
    View,
    arguments,
    find_bubblewrap,
    write_settings,
)

BUBBLEWRAP = Bubblewrap("/usr/bin/bwrap", no_userns=True)


@pytest.fixture
def places(tmp_path) -> Path:
    """A project with an inner folder and a file, and the folders of a tool."""
    for name in ("project/inner/own", "tool", "private"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "project" / "file").write_text("")
    write_settings(tmp_path / "etc")
    return tmp_path


def seen(places: Path, *own: Path, **fields) -> View:
    fields = {"grants": Grants(), "environment": {}} | fields
    return View(
        own=own or (places / "tool",),
        private=places / "private",
        folder=places / "private",
        settings=places / "etc",
        tmp_bytes=1_000,
        **fields,
    )


def mounts(words: list[str]) -> dict[str, str]:
    """By place, what is mounted there last."""
    found = {}
    for at, word in enumerate(words):
        if word in ("--bind", "--ro-bind", "--ro-bind-try"):
            found[words[at + 2]] = f"{word} {words[at + 1]}"
        elif word == "--tmpfs":
            found[words[at + 1]] = word
    return found


def test_a_process_is_kept_from_everything_unless_it_is_granted(places):
    words = arguments(BUBBLEWRAP, seen(places))
    for option in (
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--disable-userns", "--new-session", "--die-with-parent", "--clearenv"),
    ):
        assert option in words
    for pair in (
        *(("--cap-drop", "ALL"), ("--uid", "65534"), ("--gid", "65534")),
        *(("--remount-ro", "/"), ("--remount-ro", "/proc"), ("--remount-ro", "/dev")),
    ):
        assert pair in list(pairwise(words))
    found = mounts(words)
    assert found[str(places / "tool")] == f"--ro-bind {places / 'tool'}"
    assert found[str(places / "private")] == f"--bind {places / 'private'}"
    assert found["/tmp"] == "--tmpfs"
    assert found["/etc"] == f"--ro-bind {places / 'etc'}"
    assert "/etc/resolv.conf" not in found
    assert "localhost" in (places / "etc" / "hosts").read_text()


def test_the_network_comes_with_what_is_needed_to_find_names(places):
    words = arguments(BUBBLEWRAP, seen(places, grants=Grants(network=True)))
    assert "--unshare-net" not in words
    found = mounts(words)
    there = {"/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/ssl/certs", "/etc/hosts"}
    for name in filter(lambda name: Path(name).exists(), there):
        assert found[name] == f"--ro-bind-try {name}"


def test_settings_that_are_granted_find_a_place_beside_ours(places):
    grants = Grants(read=(Path("/etc/hostname"),))
    found = mounts(arguments(BUBBLEWRAP, seen(places, grants=grants)))
    assert "/etc" not in found
    assert found["/etc/passwd"] == f"--ro-bind-try {places / 'etc' / 'passwd'}"


def test_an_older_bubblewrap_is_not_asked_for_what_it_does_not_know(places):
    assert "--disable-userns" not in arguments(Bubblewrap("bwrap"), seen(places))


def test_what_is_said_of_an_inner_folder_holds_there(places):
    project = places / "project"
    for grants, outer, inner in (
        (Grants(read=(project,), write=(project / "inner",)), "--ro-bind", "--bind"),
        (Grants(read=(project / "inner",), write=(project,)), "--bind", "--ro-bind"),
        (Grants(read=(project, project / "inner"), write=(project,)), "--bind", "--ro-bind"),
    ):
        words = arguments(BUBBLEWRAP, seen(places, grants=grants))
        found = mounts(words)
        assert found[str(project)].startswith(f"{outer} ")
        assert found[str(project / "inner")].startswith(f"{inner} ")
        assert list(found).index(str(project)) < list(found).index(str(project / "inner"))


def test_what_is_hidden_is_covered_after_it_is_granted(places):
    project = places / "project"
    hidden = (project / "inner", project / "file", project / "not there")
    grants = Grants(write=(project, project / "inner"), hidden=hidden)
    found = mounts(arguments(BUBBLEWRAP, seen(places, grants=grants)))
    assert found[str(project / "inner")] == "--tmpfs"
    assert found[str(project / "file")] == "--ro-bind /dev/null"
    assert str(project / "not there") not in found


def test_its_own_files_are_shown_inside_what_is_hidden_and_what_is_hidden_inside_them_is_not(
    places,
):
    own = places / "project" / "inner" / "own"
    (own / "secret").write_text("")
    grants = Grants(read=(places,), hidden=(places / "project",))
    words = arguments(BUBBLEWRAP, seen(places, own, grants=grants))
    found = mounts(words)
    assert found[str(places / "project")] == "--tmpfs"
    assert found[str(own)] == f"--ro-bind {own}"
    order = list(found)
    assert order.index(str(places / "project")) < order.index(str(own))
    words = arguments(BUBBLEWRAP, seen(places, own, grants=Grants(hidden=(own / "secret",))))
    last = len(words) - 1 - words[::-1].index(str(own / "secret"))
    assert words[last - 2 : last] == ["--ro-bind", "/dev/null"]
    assert last > words.index(str(own))


def test_what_is_hidden_is_not_named_where_it_would_not_be_seen_anyway(places):
    project = places / "project"
    grants = Grants(read=(project / "inner",), hidden=(project / "file", places / "tool" / "x"))
    words = arguments(BUBBLEWRAP, seen(places, grants=grants))
    assert str(project / "file") not in words


def test_what_is_granted_inside_of_what_is_hidden_stays_hidden(places):
    project = places / "project"
    grants = Grants(read=(project / "inner",), hidden=(project,))
    found = mounts(arguments(BUBBLEWRAP, seen(places, grants=grants)))
    assert list(found).index(str(project)) > list(found).index(str(project / "inner"))
    assert found[str(project)] == "--tmpfs"


def test_a_granted_link_is_granted_by_where_it_leads(places):
    link, circle = places / "link", places / "circle"
    link.symlink_to(places / "project")
    circle.symlink_to(circle)
    found = mounts(arguments(BUBBLEWRAP, seen(places, grants=Grants(read=(link, circle)))))
    assert found[str(places / "project")] == f"--ro-bind {places / 'project'}"
    assert str(link) not in found
    assert str(circle) not in found


def test_the_kernel_and_the_whole_host_are_never_granted(places):
    never = tuple(map(Path, ("/", "/proc", "/proc/self", "/dev", "/dev/shm", "/sys")))
    plain = arguments(BUBBLEWRAP, seen(places))
    assert arguments(BUBBLEWRAP, seen(places, grants=Grants(read=never, write=never))) == plain


def test_what_lies_in_something_shown_is_not_shown_twice(places):
    own = (places / "tool", places / "project", places / "project" / "inner", Path("/usr/bin/env"))
    found = mounts(arguments(BUBBLEWRAP, seen(places, *own)))
    assert str(places / "project" / "inner") not in found
    assert "/usr/bin/env" not in found


def test_bubblewrap_is_looked_for_only_where_it_is_said(tmp_path):
    found = find_bubblewrap(str(tmp_path))
    assert not found.path
    assert "install it" in found.reason
