"""What a watcher tells when files are saved, renamed, removed, and when watching itself fails."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.errors import BoardBusy
from pegboard.sources import watch as watching
from pegboard.sources.watch import EVERYTHING, MOST_PATHS, Place, Watcher

ENOUGH = 15.0
"""Seconds after which a test gives up waiting."""


def of(root):
    """A folder of Python tools."""
    return Place(root, ("gentools", "mcptools"))


class Told:
    """Everything a watcher told, and a way to wait for it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, frozenset[str]]] = []
        self.raises: list[BaseException] = []
        self._news = threading.Condition()

    def __call__(self, source: str, paths: frozenset[str]) -> None:
        with self._news:
            self.calls.append((source, paths))
            self._news.notify_all()
            if self.raises:
                raise self.raises.pop()

    def comes(self, seen: Callable[[], bool], seconds: float) -> bool:
        with self._news:
            return self._news.wait_for(seen, seconds)

    def wait(self, seen: Callable[[], bool]) -> None:
        assert self.comes(seen, ENOUGH), self.calls

    def paths(self, *wanted: str, source: str = "tools") -> None:
        """Waits until all of these were told."""
        self.wait(lambda: set(wanted) <= self.of(source))

    def everything(self, source: str = "tools") -> None:
        self.wait(lambda: (source, EVERYTHING) in self.calls)

    def of(self, source: str = "tools") -> set[str]:
        return {path for name, paths in self.calls if name == source for path in paths}

    def forget(self) -> None:
        with self._news:
            self.calls.clear()


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tools/mcptools/chat").mkdir(parents=True)
    (tmp_path / "tools/gentools/images/resize").mkdir(parents=True)
    return tmp_path / "tools"


@pytest.fixture
def start(told):
    """Starts a watcher in a thread; stops it afterwards, and proves that it stopped."""
    stop, threads = threading.Event(), []

    def run(roots, **options):
        watcher = Watcher(roots, told, **options)
        threads.append(threading.Thread(target=watcher.run, args=(stop,)))
        threads[-1].start()
        return watcher

    yield run
    stop.set()
    for thread in threads:
        thread.join(ENOUGH)
        assert not thread.is_alive()
    assert not [each for each in threading.enumerate() if each.name.startswith("watch ")]


@pytest.fixture
def watched(start, told, root):
    """A watcher over the root that stands already, with nothing told since."""
    watcher = start({"tools": of(root)})
    told.everything()
    told.forget()
    return watcher


def only_after(told, root, *unseen):
    """A later change is told, and none of these was before."""
    (root / "mcptools/chat/last.py").write_text("1")
    told.paths("mcptools/chat/last.py")
    assert told.of().isdisjoint(unseen)


def test_everything_is_told_once_a_root_is_watched(start, told, root):
    start({"tools": of(root)})
    told.everything()
    only_after(told, root)
    assert told.calls.count(("tools", EVERYTHING)) == 1


def test_nothing_is_told_at_first_if_nobody_asks_for_it(start, told, root):
    start({"tools": of(root)}, look_first=False)
    for number in range(1000):
        (root / f"mcptools/chat/post{number}.py").write_text("1")
        if told.comes(lambda: bool(told.calls), 0.02):
            break
    assert EVERYTHING not in [paths for _, paths in told.calls]
    assert told.of()


def test_a_file_that_is_made_changed_renamed_and_removed(watched, told, root):
    path, other = root / "mcptools/chat/post.py", root / "mcptools/chat/send.py"
    for change in (
        lambda: path.write_text("1"),
        lambda: path.write_text("2"),
        lambda: path.rename(other),
        lambda: other.rename(path),
        lambda: path.unlink(),
    ):
        told.forget()
        change()
        told.paths("mcptools/chat/post.py")
    assert watched.errors == 0


def test_both_names_of_a_rename_are_told(watched, told, root):
    path = root / "mcptools/chat/post.py"
    path.write_text("1")
    told.paths("mcptools/chat/post.py")
    told.forget()
    path.rename(path.with_name("send.py"))
    told.paths("mcptools/chat/post.py", "mcptools/chat/send.py")


def test_a_folder_that_is_made_moved_and_removed(watched, told, root):
    folder = root / "gentools/mail"
    (folder / "send").mkdir(parents=True)
    (folder / "send/api.py").write_text("1")
    told.paths("gentools/mail")
    told.forget()
    folder.rename(root / "gentools/post")
    told.paths("gentools/mail", "gentools/post")
    (root / "gentools/post/send/api.py").write_text("2")
    told.paths("gentools/post/send/api.py")
    told.forget()
    folder = (root / "gentools/post").rename(root / "aside")
    told.paths("gentools/post")
    told.forget()
    folder.rename(root / "gentools/post")
    told.paths("gentools/post")
    told.forget()
    shutil.rmtree(root / "gentools/post")
    told.paths("gentools/post")


def test_files_in_a_folder_that_has_just_been_made_are_told_or_their_folder_is(watched, told, root):
    for number in range(100):
        tool = root / f"gentools/new{number}/tool"
        tool.mkdir(parents=True)
        (tool / "api.py").write_text("1")
    told.paths(*(f"gentools/new{number}" for number in range(100)))


@pytest.mark.parametrize("temporary", ["4913", ".post.py.swp", "post.py~", "post.py.tmp.12"])
def test_an_editor_that_saves_beside_and_renames(watched, told, root, temporary):
    path = root / "mcptools/chat/post.py"
    beside = path.with_name(temporary)
    beside.write_text("new")
    beside.replace(path)
    told.paths("mcptools/chat/post.py")
    only_after(told, root, f"mcptools/chat/{temporary}")


def test_what_can_be_no_tool_is_not_told(watched, told, root):
    unseen = [
        "mcptools/chat/__pycache__/post.cpython-311.pyc",
        "mcptools/chat/post.pyc",
        "mcptools/.git/index",
        "mcptools/chat/.#post.py",
        "mcptools/chat/#post.py#",
        "gentools/images/resize/api.py___jb_tmp___",
        "notes/todo.py",
    ]
    for name in unseen:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1")
    only_after(told, root, *unseen)
    assert len(told.calls) <= 2


def test_a_name_that_only_looks_temporary_is_told_if_it_can_be_a_category(watched, told, root):
    (root / "mcptools/4913").mkdir()
    told.paths("mcptools/4913")


def test_a_thousand_changes_come_together(watched, told, root):
    names = [f"mcptools/chat/tool{number}.py" for number in range(1000)]
    for name in names:
        (root / name).write_text("1")
    told.paths(*names)
    assert len(told.calls) < 100


def test_a_flood_of_changes_is_a_change_of_everything(watched, told, root, monkeypatch):
    monkeypatch.setattr(watching, "MOST_PATHS", 20)
    for number in range(200):
        (root / f"mcptools/chat/tool{number}.py").write_text("1")
    told.everything()
    assert all(len(paths) <= 20 for _, paths in told.calls)
    assert MOST_PATHS == 2_000


def test_changes_that_never_pause_are_told_all_the_same(watched, told, root):
    enough = threading.Event()

    def write():
        number = 0
        while not enough.wait(0.01):
            number += 1
            (root / f"mcptools/chat/tool{number}.py").write_text("1")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        told.wait(lambda: len(told.calls) >= 3)
    finally:
        enough.set()
        writing.join()


@pytest.mark.parametrize("missing", ["tools", "tools/mcptools", "deeper/still/tools"])
def test_a_folder_that_is_not_there_yet(start, told, tmp_path, missing):
    root = tmp_path / missing.removesuffix("/mcptools")
    if missing == "tools/mcptools":
        root.mkdir()
    start({"tools": of(root)})
    told.everything()
    told.forget()
    (root / "mcptools/chat").mkdir(parents=True)
    told.everything()
    told.forget()
    (root / "mcptools/chat/post.py").write_text("1")
    told.wait(lambda: bool(told.calls))  # it may have seen the root before the folder in it


@pytest.mark.parametrize("folder", ["mcptools", "."])
def test_a_folder_that_is_removed_and_made_again(watched, told, root, folder):
    shutil.rmtree(root / folder)
    told.everything()
    told.forget()
    (root / "mcptools/chat").mkdir(parents=True)
    told.everything()
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")


def test_a_folder_that_is_made_again_at_once(watched, told, root):
    for _ in range(3):
        told.forget()
        shutil.rmtree(root / "mcptools")
        (root / "mcptools/chat").mkdir(parents=True)
        told.everything()
        told.forget()
        (root / "mcptools/chat/post.py").write_text("1")
        told.wait(lambda: bool(told.calls))


@pytest.mark.parametrize("folder", ["mcptools", "."])
def test_a_folder_that_a_link_to_another_takes_the_place_of(watched, told, root, folder):
    path, other = root / folder, root.with_name("another")
    shutil.copytree(path, other)
    path.rename(root.with_name("aside"))
    path.symlink_to(other)
    told.everything()
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")


def test_a_root_that_moves_and_leaves_a_link_behind(watched, told, root):
    root.symlink_to(root.rename(root.with_name("moved")))
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")


def test_a_change_behind_a_link_is_told_under_the_real_name_too(start, told, root):
    (root / "mcptools/linked").symlink_to("chat")
    start({"tools": of(root)})
    told.everything()
    (root / "mcptools/linked/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")


def test_roots_come_and_go_while_others_go_on(watched, told, root, tmp_path):
    other = tmp_path / "other"
    (other / "mcptools").mkdir(parents=True)
    watched.set_places({"tools": of(root), "other": of(other)})
    told.everything("other")
    assert ("tools", EVERYTHING) not in told.calls
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")
    [thread] = [each for each in threading.enumerate() if each.name == "watch tools"]
    watched.set_places({"other": of(other)})
    thread.join(ENOUGH)
    assert not thread.is_alive()


def test_a_source_that_moves_is_watched_where_it_is_now(watched, told, root, tmp_path):
    (tmp_path / "other/mcptools/chat").mkdir(parents=True)
    watched.set_places({"tools": of(tmp_path / "other")})
    told.everything()
    (tmp_path / "other/mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")


@pytest.mark.parametrize("error", [BoardBusy("busy"), OSError("gone"), RuntimeError("closed")])
def test_an_error_of_the_one_who_is_told_is_counted_and_watching_goes_on(
    watched, told, root, error
):
    told.raises.append(error)
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")
    only_after(told, root)
    assert watched.errors == 1
    assert str(error) in watched.last_error
    assert "'tools'" in watched.last_error


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_watching_goes_on_even_after_an_error_that_nobody_foresaw(watched, told, root):
    told.raises.append(KeyError("a fault"))
    (root / "mcptools/chat/post.py").write_text("1")
    told.everything()
    assert (watched.errors, "begins again" in watched.last_error) == (1, True)
    only_after(told, root)


def test_a_name_that_is_not_utf8_does_not_end_the_watching(watched, told, root):
    try:
        os.close(os.open(os.fsencode(root) + b"/mcptools/chat/\xff.py", os.O_CREAT))
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    told.everything()
    assert "cannot be watched" in watched.last_error
    only_after(told, root)


@pytest.fixture
def no_watches_left(monkeypatch):
    """`watchfiles` as it is when the system refuses to watch one more folder."""
    real, asked = watching.watch, []

    def refuse(*paths: Path, **options):
        asked.append(options["force_polling"])
        if not options["force_polling"]:
            raise OSError("OS file watch limit reached")
        return real(*paths, **options | {"poll_delay_ms": 50})

    monkeypatch.setattr(watching, "watch", refuse)
    return asked


def test_where_the_system_has_no_watches_left_files_are_polled(
    no_watches_left, start, told, root, caplog
):
    watcher = start({"tools": of(root)})
    told.everything()
    (root / "mcptools/chat/post.py").write_text("1")
    told.paths("mcptools/chat/post.py")
    assert (watcher.errors, no_watches_left) == (1, [None, True])
    assert "limit reached" in watcher.last_error
    assert "max_user_watches" in caplog.text


def test_where_watches_run_out_for_a_new_folder_files_are_polled(start, told, root, monkeypatch):
    """The system itself tells nobody that it does not watch the new folder."""
    real, left = watching.watch, [1]

    def refuse(*paths: Path, **options):
        if not options.get("force_polling"):
            if not left:
                raise OSError("OS file watch limit reached")
            left.pop()
        return real(*paths, **options)

    monkeypatch.setattr(watching, "watch", refuse)
    monkeypatch.setattr(watching, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(watching, "POLL", 50)
    watcher = start({"tools": of(root)})
    told.everything()
    told.forget()
    (root / "mcptools/new").mkdir()
    told.everything()
    (root / "mcptools/new/post.py").write_text("1")
    told.paths("mcptools/new/post.py")
    assert watcher.errors == 2


def test_what_polling_has_seen_is_told_twice(no_watches_left, start, told, root):
    start({"tools": of(root)})
    told.everything()
    (root / "mcptools/chat/post.py").write_text("1")
    told.wait(lambda: sum("mcptools/chat/post.py" in paths for _, paths in told.calls) >= 2)


def test_where_nothing_can_be_watched_everything_is_told_again_and_again(
    start, told, root, monkeypatch
):
    def refuse(*paths: Path, **options):
        raise RuntimeError("no")

    monkeypatch.setattr(watching, "watch", refuse)
    monkeypatch.setattr(watching, "PAUSE_SECONDS", 0.01)
    watcher = start({"tools": of(root)})
    told.wait(lambda: told.calls.count(("tools", EVERYTHING)) >= 3)
    assert watcher.errors >= 3


def test_it_stops_while_it_waits_for_a_folder(start, tmp_path, told):
    start({"tools": of(tmp_path / "missing")})
    told.everything()


# Places of other shapes


def test_only_the_folders_of_a_place_are_watched_and_all_of_them(start, told, tmp_path):
    start({"tools": Place(tmp_path, ("skills", "tools"), private=(".", "__pycache__"))})
    told.everything()
    told.forget()
    (tmp_path / "skills/pdf").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    told.everything()
    (tmp_path / "other/x.md").write_text("1")
    (tmp_path / "skills/pdf/SKILL.md").write_text("1")
    told.paths("skills/pdf/SKILL.md")
    assert not [path for path in told.of() if path.startswith("other")]


def test_a_place_says_itself_which_names_are_private(start, told, tmp_path):
    (tmp_path / "tools/lint/__pycache__").mkdir(parents=True)
    start({"tools": Place(tmp_path, ("tools",), private=(".", "__pycache__"))})
    told.everything()
    for name in ("__pycache__/a.txt", ".env", "_part.py"):
        (tmp_path / "tools/lint" / name).write_text("1")
    told.paths("tools/lint/_part.py")
    assert told.of() == {"tools/lint/_part.py"}


@pytest.fixture
def document(start, told, tmp_path):
    """One file that is watched by itself, with others beside it and below."""
    (tmp_path / "below").mkdir()
    path = tmp_path / "api.yaml"
    path.write_text("1")
    start({"api": Place(tmp_path, file="api.yaml")})
    told.everything("api")
    told.forget()
    return path


def test_a_change_of_a_single_file_is_a_change_of_everything(document, told):
    for change in (
        lambda: document.write_text("2"),
        lambda: document.with_name("new.yaml").write_text("3"),
        lambda: document.with_name("new.yaml").replace(document),
        lambda: document.unlink(),
        lambda: document.write_text("4"),
    ):
        change()
        if document.with_name("new.yaml").exists():
            continue
        told.everything("api")
        told.forget()


def test_what_is_beside_a_single_file_does_not_matter(document, told):
    document.with_name("other.yaml").write_text("1")
    (document.parent / "below/api.yaml").write_text("1")
    document.write_text("2")
    told.everything("api")
    assert told.of("api") == set()


def test_a_single_file_that_is_not_there_yet(start, told, tmp_path):
    start({"api": Place(tmp_path / "later", file="api.yaml")})
    told.everything("api")
    told.forget()
    (tmp_path / "later").mkdir()
    told.everything("api")
    told.forget()
    (tmp_path / "later/api.yaml").write_text("1")
    told.everything("api")
