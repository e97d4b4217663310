"""Whatever is published, taken back, offered again and pulled, in any order: `latest` is right."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releasing_parts import GREET, Publisher, seal_of

from pegboard.board.describe.bounds import Place
from pegboard.board.publish.fetching import Fetching, Want
from pegboard.board.publish.releasing import Releasing
from pegboard.errors import ItemNotFound
from pegboard.formats.semver import parse, parse_range
from pegboard.model.items import ItemId
from pegboard.store.sqlite.store import SqliteStore

REFERENCE = "team-a/tools:paper:greet"
NUMBERS = ("0.9.0", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0-alpha", "1.2.0", "1.10.0", "2.0.0-rc.2")
RANGES = ("*", "^1", "~1.0", ">=1.0.0-rc.0 <1.2", "^1.2.0-0", "<1 || ^2", "^3")

operations = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.sampled_from(NUMBERS)),
        st.tuples(st.just("other"), st.sampled_from(NUMBERS)),
        st.tuples(st.just("yank"), st.sampled_from(NUMBERS)),
        st.tuples(st.just("unyank"), st.sampled_from(NUMBERS)),
        st.tuples(st.just("pull"), st.sampled_from((*NUMBERS, *RANGES))),
        st.tuples(st.just("pull early"), st.sampled_from(RANGES)),
    ),
    min_size=1,
    max_size=25,
)


def order(text):
    """By the specification, written down once more and not as in `pegboard.formats.semver`."""
    number = parse(text)
    early = [(0, int(each), "") if each.isdigit() else (1, 0, each) for each in number.early]
    return (number.major, number.minor, number.patch), not early, early


class Model:
    """What should be there: each number, and whether it was taken back."""

    def __init__(self):
        self.yanked = {}
        self.downloads = 0

    @property
    def able(self):
        return [number for number, yanked in self.yanked.items() if not yanked]

    @property
    def hung(self):
        releases = [each for each in self.able if "-" not in each]
        return max(releases or self.able, key=order, default=None)

    def pulled(self, wanted, early):
        if wanted in self.yanked:
            return wanted
        if parse(wanted):
            return None
        fitting = [each for each in self.able if parse_range(wanted).allows(each, early=early)]
        return max(fitting, key=order, default=None)


@pytest.fixture(scope="module")
def parcels(tmp_path_factory):
    """Every number twice: as it is, and with other content."""
    ada = Publisher(tmp_path_factory.mktemp("ada"))
    good = {number: ada.greet(number, GREET + f"# {number}\n") for number in NUMBERS}
    other = {number: ada.greet(number, GREET + "# other\n") for number in NUMBERS}
    return ada, good, other


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(operations)
def test_any_sequence_keeps_latest_right(tmp_path_factory, parcels, done):
    ada, good, other = parcels
    store = SqliteStore(tmp_path_factory.mktemp("registry") / "board.db", create=True)
    try:
        board = Releasing(store, lambda: seal_of(ada), lambda: None, lambda name: Place(name))
        model = Model()
        for what, which in done:
            step(board, model, (ada, good, other), what, which)
            check(store, board, model)
        assert store.check() == []
    finally:
        store.close()


def step(board, model, parcels, what, which):
    ada, good, other = parcels
    match what:
        case "publish":
            told = board.publish(good[which], by="ada")
            assert told.state == ("unchanged" if which in model.yanked else "published")
            model.yanked.setdefault(which, False)
        case "other" if which in model.yanked:
            told = board.publish(other[which], by="ada")
            assert (told.state, told.code) == ("refused", "version_exists")
        case "yank" | "unyank":
            with suppress(ItemNotFound):
                changed = board.yank(REFERENCE, which, yanked=what == "yank", reason="", by="ada")
                assert changed == (model.yanked[which] != (what == "yank"))
                model.yanked[which] = what == "yank"
        case "pull" | "pull early":
            early = what == "pull early"
            wanted = model.pulled(which, early)
            try:
                [got] = Fetching(board, seal_of(ada), {}).all([Want(REFERENCE, which, early)])
            except ItemNotFound:
                assert wanted is None
            else:
                assert got.record.version == wanted
                model.downloads += 1


def check(store, board, model):
    entry = store.items.get(ItemId("tools:paper:greet"), "team-a")
    if not model.yanked:
        assert entry is None
        return
    shelf = board.shelf(REFERENCE)
    assert (shelf.latest or None) == model.hung
    assert [each.number for each in shelf.versions] == sorted(model.yanked, key=order, reverse=True)
    assert {each.number for each in shelf.versions if each.yanked_at} == {
        number for number, yanked in model.yanked.items() if yanked
    }
    assert entry.active == (model.hung is not None)
    assert entry.download_count == model.downloads
    if model.hung:
        assert entry.item.version.version == model.hung
        assert entry.item.version.files[0].content.endswith(f"# {model.hung}\n".encode())
