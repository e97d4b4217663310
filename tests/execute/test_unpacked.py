import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_file, make_item
from pegboard.errors import NotExecutable
from pegboard.execute.unpacked import Unpacked
from pegboard.model.content import Version
from waiting import until

FILES = (
    make_file("main.py", b"print()\n"),
    make_file("bin/go", b"#!/bin/sh\n", executable=True),
    make_file("lib/deep/part.py", b""),
)


def item_of(*files):
    return make_item("walk", version=Version("1.0.0", "the same for all", files=tuple(files)))


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in sorted([folder, *folder.rglob("*")])
        if path.exists()
    }


def wanted(*files) -> dict[str, bytes]:
    return {file.path: file.content for file in files}


@pytest.fixture
def unpacked(tmp_path):
    return Unpacked(tmp_path / "cache")


def test_the_files_are_there_read_only_and_nothing_else(unpacked):
    folder = unpacked.folder(item_of(*FILES))
    assert folder.is_absolute()
    assert tree(folder) == wanted(*FILES)
    assert modes(folder) == {
        ".": 0o555,
        "bin": 0o555,
        "lib": 0o555,
        "lib/deep": 0o555,
        "main.py": 0o444,
        "bin/go": 0o555,
        "lib/deep/part.py": 0o444,
    }


def test_the_same_files_are_unpacked_once(unpacked):
    folder = unpacked.folder(item_of(*FILES))
    before = (folder / "main.py").stat()
    assert unpacked.folder(item_of(*reversed(FILES))) == folder
    after = (folder / "main.py").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_other_files_have_another_folder_whatever_their_version_claims(unpacked):
    first = make_file("main.py", b"1")
    others = [
        make_file("main.py", b"2"),
        make_file("other.py", b"1"),
        make_file("main.py", b"1", executable=True),
    ]
    folders = [unpacked.folder(item_of(file)) for file in (first, *others)]
    assert len(set(folders)) == 4
    assert [tree(folder) for folder in folders] == [wanted(file) for file in (first, *others)]


def test_an_item_without_files_has_an_empty_folder(unpacked):
    assert tree(unpacked.folder(make_item("walk"))) == {}


def writable(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)


def change(folder: Path) -> None:
    (folder / "main.py").write_bytes(b"evil()\n")


def shorten(folder: Path) -> None:
    (folder / "main.py").write_bytes(b"")


def lose(folder: Path) -> None:
    (folder / "main.py").unlink()


def lose_folder(folder: Path) -> None:
    (folder / "lib/deep/part.py").unlink()
    (folder / "lib/deep").rmdir()


def add(folder: Path) -> None:
    (folder / "lib/json.py").write_bytes(b"evil()")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/main.pyc").write_bytes(b"")
    (folder / "closed/inner").mkdir(parents=True)
    (folder / "closed").chmod(0)


def link_file(folder: Path) -> None:
    (folder.parents[1] / "outside.py").write_bytes(b"print()\n")
    (folder / "main.py").unlink()
    (folder / "main.py").symlink_to(folder.parents[1] / "outside.py")


def link_folder(folder: Path) -> None:
    outside = folder.parents[1] / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep/part.py").write_bytes(b"")
    (outside / "deep/part.py").chmod(0o444)
    (outside / "deep").chmod(0o700)
    (folder / "lib/deep/part.py").unlink()
    (folder / "lib/deep").rmdir()
    (folder / "lib").rmdir()
    (folder / "lib").symlink_to(outside)


def swap(folder: Path) -> None:
    (folder / "main.py").unlink()
    (folder / "main.py").mkdir()
    (folder / "main.py/inner").write_bytes(b"")


def put_file_for_folder(folder: Path) -> None:
    lose_folder(folder)
    (folder / "lib/deep").write_bytes(b"")


def close(folder: Path) -> None:
    (folder / "lib").chmod(0)
    (folder / "main.py").chmod(0)


def link_all(folder: Path) -> None:
    folder.rename(folder.parents[1] / "elsewhere")
    folder.symlink_to(folder.parents[1] / "elsewhere")


def replace_all(folder: Path) -> None:
    folder.rename(folder.parents[1] / "elsewhere")
    folder.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [
        *(change, shorten, lose, lose_folder, add, link_file, link_folder, swap),
        *(put_file_for_folder, close, link_all, replace_all),
    ],
)
def test_what_was_changed_is_put_right_and_nothing_outside_is_touched(unpacked, damage):
    folder = unpacked.folder(item_of(*FILES))
    outside = folder.parents[1]
    writable(folder)
    damage(folder)
    before = modes(outside / "outside")
    assert unpacked.folder(item_of(*FILES)) == folder
    assert tree(folder) == wanted(*FILES)
    assert not any(path.is_symlink() for path in [folder, *folder.rglob("*")])
    assert stat.S_IMODE((folder / "main.py").stat().st_mode) == 0o444
    assert modes(outside / "outside") == before
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]


def test_whoever_reads_a_file_while_it_is_put_right_has_it_whole(unpacked):
    folder = unpacked.folder(item_of(*FILES))
    with (folder / "main.py").open("rb") as reader:
        writable(folder)
        (folder / "main.py").replace(folder / "renamed.py")
        unpacked.folder(item_of(*FILES))
        assert reader.read() == b"print()\n"


@pytest.mark.parametrize(
    "path",
    ["../evil", "/etc/evil", "a/../../evil", "..", ".", "", "a//b", "./a", "a/", "a\\b", "a\0b"],
)
def test_a_path_that_leaves_the_folder_is_refused(unpacked, tmp_path, path):
    with pytest.raises(NotExecutable, match="leaves its folder"):
        unpacked.folder(item_of(make_file(path)))
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.characters(exclude_categories=[]), max_size=12))
def test_no_path_whatever_leads_outside(tmp_path_factory, path):
    root = tmp_path_factory.mktemp("any")
    try:
        folder = Unpacked(root / "cache").folder(item_of(make_file(path, b"x")))
    except NotExecutable as error:
        assert error.hint
    else:
        assert tree(folder) == {path: b"x"}
    assert {each.name for each in root.iterdir()} <= {"cache"}


def test_a_file_that_is_also_a_folder_is_refused(unpacked):
    with pytest.raises(NotExecutable, match="two files with one path"):
        unpacked.folder(item_of(make_file("a"), make_file("a/b")))
    with pytest.raises(NotExecutable, match="two files with one path"):
        unpacked.folder(item_of(make_file("a", b"1"), make_file("a", b"2")))


def test_content_that_is_not_what_its_hash_says_is_refused(unpacked):
    file = make_file("main.py", b"print()")._replace(content=b"evil()")
    with pytest.raises(NotExecutable, match=r"main\.py .* does not have the content"):
        unpacked.folder(item_of(file))


def test_a_cache_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "cache").write_bytes(b"")
    with pytest.raises(NotExecutable, match=r"cannot be put into .*cache") as raised:
        Unpacked(tmp_path / "cache").folder(item_of(*FILES))
    assert "disk" in raised.value.hint


def test_many_threads_at_once_agree(tmp_path):
    items = [item_of(make_file("main.py", b"%d" % n), *FILES[1:]) for n in range(4)]
    with ThreadPoolExecutor(16) as threads:
        folders = list(threads.map(lambda n: Unpacked(tmp_path).folder(items[n % 4]), range(200)))
    assert len(set(folders)) == 4
    assert all(tree(folder)["main.py"] == b"%d" % (n % 4) for n, folder in enumerate(folders))
    assert sum(path.is_dir() for path in tmp_path.iterdir()) == 4


UNPACK = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_unpacked import item_of
from making import make_file
from pegboard.execute.unpacked import Unpacked
files = [make_file(f"f{{n}}", b"x" * 10_000) for n in range(2_000)]
print("ready", flush=True)
print(Unpacked(Path({cache!r})).folder(item_of(*files)))
"""


@pytest.mark.program
def test_a_process_killed_on_the_way_leaves_nothing_that_could_be_taken_for_a_folder(tmp_path):
    here = Path(__file__).parent
    code = UNPACK.format(tests=str(here), cache=str(tmp_path))
    paths = os.pathsep.join([str(here.parent), *sys.path])
    environ = {**os.environ, "PYTHONPATH": paths}
    killed = subprocess.Popen(
        [sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout.readline() == "ready\n"
    until(lambda: any(tmp_path.glob("new-*/f1*")))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert not [path for path in tmp_path.iterdir() if len(path.name) == 64]
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    folder = Path(done.stdout.splitlines()[-1])
    assert len(tree(folder)) == 2_000


def age(folder: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(folder, (then, then))


def test_only_folders_beyond_the_bound_that_are_idle_are_removed_oldest_first(tmp_path):
    unpacked = Unpacked(tmp_path, most=3, idle_seconds=3_600)
    items = [item_of(make_file("main.py", b"%d" % n), *FILES[1:]) for n in range(6)]
    folders = [unpacked.folder(item) for item in items[:5]]
    assert all(folder.exists() for folder in folders), "nobody has been idle for an hour"
    for n, folder in enumerate(folders):
        age(folder, 10_000 - n)
    age(folders[4], 60)
    unpacked.folder(items[0])  # used again
    last = unpacked.folder(items[5])
    left = [folder for folder in [*folders, last] if folder.exists()]
    assert left == [folders[0], folders[4], last]
    assert tree(unpacked.folder(items[1])) == wanted(*items[1].version.files)


def test_what_a_killed_process_left_is_removed_after_a_while(tmp_path):
    unpacked = Unpacked(tmp_path)
    for name in ("new-half", "gone-half"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner").chmod(0o555)
        age(tmp_path / name, 10_000)
    (tmp_path / "new-just-now").mkdir()
    folder = unpacked.folder(item_of(*FILES))
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == sorted(
        [folder.name, "new-just-now"]
    )
