"""Whatever is published and taken back in whatever order, the right version hangs."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_parts import SEND, hanging, kept, numbers, release, yank

from making import by_hand, entry_of
from pegboard.errors import ItemNotFound
from pegboard.model.items import Drift
from pegboard.store.versioning import hung

relaxed = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
EARLY = ("", "-alpha", "-alpha.1", "-beta.2", "-beta.11", "-rc.1", "-0", "-x-y")
parts = st.integers(0, 2) | st.just(10)
numbered = st.builds("{}.{}.{}{}".format, parts, parts, parts, st.sampled_from(EARLY))
steps = st.lists(
    st.tuples(
        st.sampled_from(["publish", "publish", "again", "other", "yank", "unyank"]),
        st.integers(0, 4),
    ),
    max_size=14,
)


def rank(number):
    """By the words of https://semver.org, and not as the program has them."""
    core, _, early = number.partition("-")
    ids = [(0, int(e), "") if e.isdigit() else (1, 0, e) for e in early.split(".") if e]
    return [int(each) for each in core.split(".")], not early, ids


def expected(versions):
    """What hangs, of versions with whether they are taken back."""
    able = [number for number, back in versions.items() if not back]
    releases = [number for number in able if "-" not in number]
    return max(releases or able, key=rank, default=None)


@given(st.dictionaries(numbered, st.booleans(), max_size=8))
def test_what_hangs_is_what_semver_says(versions):
    assert hung(versions.items()) == expected(versions)


@relaxed
@given(st.lists(numbered, min_size=1, max_size=5, unique=True), steps)
def test_any_sequence_of_releases_leaves_the_latest_hanging_and_none_changed(store, known, steps):
    for entry in store.items.page(0, 9):
        store.curation.remove(entry, "nobody")
    model, lines = {}, len(store.releases.audit(limit=100_000))
    for action, place in steps:
        number = known[place % len(known)]
        lines += _step(store, model, action, number)
        if model:
            assert numbers(store) == sorted(model, key=rank, reverse=True)
            assert hanging(store) == expected(model)
    for number, back in model.items():
        assert kept(store, number) == release(number).version
        line = next(e for e in store.items.versions(SEND.id, "public") if e.number == number)
        assert (line.yanked_at is not None) == back
    if model:
        entry, latest = entry_of(store, SEND), expected(model)
        assert (entry.drift is Drift.MISSING) == (latest is None)
        assert latest is None or entry.item == release(latest)
    assert len(store.releases.audit(limit=100_000)) == lines
    assert store.check() == []


def _step(store, model, action, number):
    """How many lines the log has more."""
    if action in ("yank", "unyank"):
        return _yank(store, model, number, yanked=action == "yank")
    there = number in model
    item = release(number, b"other" if action == "other" and there else None)
    told = store.releases.publish(item, None, "alice")
    states = {False: "published", True: "refused" if action == "other" else "unchanged"}
    assert told.state == states[there]
    model.setdefault(number, False)
    if told.state != "refused":
        assert told.latest == (expected(model) or "")
    return not there


def _yank(store, model, number, *, yanked):
    if not model:
        return 0
    after = expected(model | {number: yanked} if number in model else model)
    if number not in model:
        try:
            yank(store, number, after, yanked=yanked)
        except ItemNotFound:
            return 0
        raise AssertionError("there is no such version")
    changes = model[number] != yanked
    assert yank(store, number, after, yanked=yanked) == changes
    model[number] = yanked
    return changes


def test_a_board_that_does_not_keep_to_it_says_so(store):
    """Else the checks above would prove nothing."""
    for number in ("1.0.0", "1.1.0"):
        store.releases.publish(release(number), None, "alice")
    assert store.check() == []
    by_hand(store, "UPDATE item_versions SET yanked_at = created_at WHERE version = '1.1.0'")
    [told] = store.check()
    assert told == f"{SEND.id} hangs in version 1.1.0, and its latest is 1.0.0"
    by_hand(store, "UPDATE item_versions SET yanked_at = created_at")
    [told] = store.check()
    assert told == f"{SEND.id} hangs in version 1.1.0, and its latest is None"
    by_hand(store, "UPDATE item_versions SET yanked_at = NULL, published_by = NULL")
    told = f"{SEND.id} is published, and its version 1.0.0 is not"
    assert told in store.check()
