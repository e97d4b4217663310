"""Several who publish at once, and one who is killed while he does."""

import threading

import pytest
from blobs_parts import LARGE, content_of
from release_parts import SEND, hanging, kept, numbers, publish, release, version, yank
from test_versions import NOW, elsewhere, where

from making import entry_of
from pegboard.errors import ChangedMeanwhile
from pegboard.model.releases import Action


def together(*works):
    """What each of these gave back, begun at the same moment."""
    start, told = threading.Barrier(len(works)), {}

    def begin(place, work):
        start.wait(60)
        told[place] = work()

    threads = [threading.Thread(target=begin, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [told[place] for place in range(len(works))]


def publishing(store, *args, **fields):
    return lambda: store.releases.publish(release(*args, **fields), None, "alice")


def test_of_many_who_publish_different_numbers_at_once_the_highest_hangs(store):
    """Some of them find no item yet."""
    for attempt in range(4):
        name = f"tool{attempt}"
        every = ["1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"]
        told = together(*(publishing(store, number, name=name) for number in every))
        assert [each.state for each in told] == ["published"] * 4
        item = release("1.10.0", name=name)
        assert numbers(store, item) == ["2.0.0-rc.1", "1.10.0", "1.9.0", "1.0.0"]
        assert entry_of(store, item).item == item
    assert store.check() == []


def test_of_many_who_publish_the_same_number_with_other_content_one_wins(store):
    for attempt in range(4):
        name, contents = f"tool{attempt}", [b"a", b"b", b"c", b"d"]
        told = together(*(publishing(store, "1.0.0", each, name=name) for each in contents))
        [winner] = [n for n, each in enumerate(told) if each.state == "published"]
        lost = [each.refused.code for each in told if each.refused]
        assert lost == ["version_exists"] * 3
        assert kept(store, "1.0.0", release("1.0.0", name=name)) == version(
            "1.0.0", contents[winner]
        )
    assert len(store.releases.audit()) == 4


def test_of_many_who_publish_the_same_each_is_told_that_it_is_there(store):
    told = together(*[publishing(store, "1.0.0")] * 4)
    assert sorted(each.state for each in told) == ["published", *["unchanged"] * 3]
    assert {each.latest for each in told} == {"1.0.0"}


def test_one_who_takes_back_while_another_publishes_decides_on_what_there_is(store):
    for attempt in range(4):
        name = f"tool{attempt}"
        publish(store, "1.0.0", "1.1.0", name=name)
        entry = entry_of(store, release("1.1.0", name=name))

        def back(entry=entry):
            try:
                return yank(store, "1.1.0", "1.0.0", entry=entry)
            except ChangedMeanwhile:
                return None

        told, done = together(publishing(store, "1.0.5", name=name), back)
        assert told.state == "published"
        assert done in (True, None)
        item = release("1.0.5", name=name)
        assert hanging(store, item) == ("1.0.5" if done else "1.1.0")
    assert store.check() == []


PUBLISHES = """
import sys
from release_parts import release
from pegboard.store.opening import open_store

store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for n in eval(sys.argv[2]):
    print(store.releases.publish(release(f"1.0.{n}", sys.argv[3].encode()), None, "x").state)
store.close()
"""


def in_processes(store, *each):
    makers = [elsewhere(PUBLISHES, where(store), *given) for given in each]
    for maker in makers:
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        maker.stdin.write("go\n")
        maker.stdin.flush()
    said = [maker.communicate(timeout=100)[0].split() for maker in makers]
    assert [maker.returncode for maker in makers] == [0] * len(makers)
    return said


@pytest.mark.program
def test_two_processes_that_publish_in_turn_leave_the_highest_hanging(store):
    said = in_processes(store, ("range(0, 20, 2)", "even"), ("range(19, 0, -2)", "odd"))
    assert said == [["published"] * 10] * 2
    assert numbers(store) == [f"1.0.{n}" for n in range(19, -1, -1)]
    assert kept(store, "1.0.19") == entry_of(store, SEND).item.version
    assert store.check() == []


@pytest.mark.program
def test_of_two_processes_that_publish_the_same_numbers_each_is_published_by_one(store):
    said = in_processes(store, ("range(15)", "one"), ("range(15)", "two"))
    for n, ends in enumerate(zip(*said, strict=True)):
        assert sorted(ends) == ["published", "refused"]
        content = kept(store, f"1.0.{n}").files[0].content
        assert content == (b"one" if ends[0] == "published" else b"two")
    assert len(store.releases.audit()) == 15
    assert store.check() == []


DIES = """
import os, signal, sys
from blobs_parts import LARGE, content_of
from release_parts import release
from pegboard.store import sqlite, postgres
from pegboard.store.opening import open_store

store = open_store(sys.argv[1])
kind, step = sys.argv[2:4]
module = __import__(f"pegboard.store.{kind}.{step.partition('.')[0]}", fromlist=["x"])
whole = getattr(module, step.partition(".")[2])

def dying(*given, **named):
    done = whole(*given, **named)
    print("done", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

for each in [m for n, m in sys.modules.items() if n.startswith(f"pegboard.store.{kind}")]:
    for name, value in list(vars(each).items()):
        if value is whole:
            setattr(each, name, dying)
store.releases.publish(release(sys.argv[4], content_of(LARGE, 7)), None, "alice")
"""
STEPS = {
    "sqlite": ("putting._write_task", "versions.add_version", "audit.write_down"),
    "postgres": ("putting.write_tasks", "versions.add_version", "versions._params"),
}


@pytest.mark.program
@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("number", ["2.0.0", "0.5.0"])
def test_who_is_killed_while_he_publishes_leaves_nothing_half_done(store, number, step):
    publish(store, "1.0.0")
    before = entry_of(store, SEND), store.items.versions(SEND.id, "public")
    kind = type(store).__name__.removesuffix("Store").lower()
    if step == 0 and number == "0.5.0":
        number = "1.5.0"  # an older one does not get so far
    with elsewhere(DIES, where(store), kind, STEPS[kind][step], number) as victim:
        assert victim.stdout.readline() == "done\n"
        assert victim.wait(60) == -9
    assert (entry_of(store, SEND), store.items.versions(SEND.id, "public")) == before
    assert [line.action for line in store.releases.audit()] == [Action.PUBLISH]
    assert store.check() == []
    store.unused_files(NOW, remove=True)
    publish(store, number, content=content_of(LARGE, 7))
    assert kept(store, number).files[0].content == content_of(LARGE, 7)
    assert store.check() == []
