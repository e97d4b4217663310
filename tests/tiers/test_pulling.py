"""What is pulled is what was signed, fits all who need it, and loses nothing that lies there."""

import os

import pytest
from releasing_parts import GREET, MANIFEST, Publisher, Shelves, seal_of, write

from pegboard.board.publish.comparing import Comparing
from pegboard.board.publish.fetching import Fetching, Want
from pegboard.board.publish.lock_file import read_lock, write_lock
from pegboard.board.publish.packing import recorded, release_at, sealed
from pegboard.board.publish.placing import put_in_place
from pegboard.board.publish.releasing import Parcel
from pegboard.errors import ConfigError, ItemNotFound, NotTrusted, UsageError
from pegboard.gate.releases import pack, unpack
from pegboard.gate.signatures import Policy
from pegboard.sources.folder.bundle import make_file
from pegboard.tiers.pulling import want_of

REFERENCE = "team-a/tools:paper:greet"


@pytest.fixture
def ada(tmp_path):
    return Publisher(tmp_path)


@pytest.fixture
def shelves():
    return Shelves()


def fetched(shelves, seal, *wants, lock=None):
    return Fetching(shelves, seal, lock or {}).all([want_of(each) for each in wants])


def installed(root, shelves, seal, *wants, lock=None, force=False, merge=False):
    """A pull as the tiers do it, without a board; returns what became of each, and the lock."""
    kept = dict(lock or {})
    got = Fetching(shelves, seal, kept).all([want_of(each) for each in wants])
    planned = [Comparing(root, kept, shelves, force, merge).planned(each) for each in got]
    for each in planned:
        if each.state != "unchanged":
            put_in_place(root, each.path, each.locked.folder, each.files, each.side_file)
            kept[each.reference] = each.locked
    return planned, kept


def test_the_latest_release_is_pulled_unless_another_is_asked_for(ada, shelves):
    for number in ("1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1"):
        shelves.add(ada.greet(number))
    seal = seal_of(ada)
    for wanted, number in {
        "tools:paper:greet": "1.10.0",
        f"{REFERENCE}@latest": "1.10.0",
        f"{REFERENCE}@^1.0 <1.5": "1.2.0",
        f"{REFERENCE}@1.0.0": "1.0.0",
        f"{REFERENCE}@2.0.0-rc.1": "2.0.0-rc.1",
        f"{REFERENCE}@>=2.0.0-rc.0": "2.0.0-rc.1",
    }.items():
        [got] = fetched(shelves, seal, wanted)
        assert got.record.version == number, wanted
    [got] = Fetching(shelves, seal, {}).all([Want(REFERENCE, early=True)])
    assert got.record.version == "2.0.0-rc.1"


def test_what_was_taken_back_is_had_by_its_exact_number_only(ada, shelves):
    for number in ("1.0.0", "1.1.0"):
        shelves.add(ada.greet(number))
    shelves.yanked[REFERENCE, "1.1.0"] = "it greets nobody"
    [got] = fetched(shelves, seal_of(ada), REFERENCE)
    assert got.record.version == "1.0.0"
    [got] = fetched(shelves, seal_of(ada), f"{REFERENCE}@1.1.0")
    assert got.notes == (f"{REFERENCE}@1.1.0 was taken back: it greets nobody",)
    shelves.yanked[REFERENCE, "1.0.0"] = ""
    with pytest.raises(ItemNotFound, match=r"all versions of .* were taken back"):
        fetched(shelves, seal_of(ada), REFERENCE)


def test_only_pre_releases_are_no_answer_unless_they_are_asked_for(ada, shelves):
    shelves.add(ada.greet("1.0.0-rc.1"))
    with pytest.raises(ItemNotFound, match=r"only pre-releases: 1.0.0-rc.1") as raised:
        fetched(shelves, seal_of(ada), REFERENCE)
    assert "--pre" in raised.value.hint


@pytest.mark.parametrize("text", ["greet@nonsense", "greet@1.x.3", "greet@"])
def test_what_is_no_range_is_said_to_be_none(text):
    with pytest.raises(UsageError, match="no version or range"):
        want_of(text)


def directive(ada, version, needs):
    path = "directives/letter.md"
    text = (
        f'# Letter\n\n```xml\n<directive name="letter" version="{version}">\n<metadata>\n'
        "<description>Write a letter and send it.</description>\n</metadata>\n<process>\n"
        f'<step name="greet"><description>Greet.</description><tool>{needs}</tool></step>\n'
        "</process>\n</directive>\n```\n"
    )
    return ada.parcel(path, version, {path: text})


def test_what_an_item_needs_comes_with_it_and_before_it(ada, shelves):
    for number in ("1.0.0", "1.4.0", "2.0.0"):
        shelves.add(ada.greet(number))
    shelves.add(directive(ada, "1.0.0", "tools:paper:greet@^1.2"))
    got = fetched(shelves, seal_of(ada), "directives::letter")
    assert [(each.record.id, each.record.version) for each in got] == [
        ("tools:paper:greet", "1.4.0"),
        ("directives::letter", "1.0.0"),
    ]
    assert got[1].locked.requires == {REFERENCE: "^1.2"}
    assert (got[0].locked.range, got[1].locked.range) == ("", "*")


def test_what_does_not_fit_together_is_told_with_who_wants_what(ada, shelves):
    for number in ("1.0.0", "2.0.0"):
        shelves.add(ada.greet(number))
    shelves.add(directive(ada, "1.0.0", "tools:paper:greet@^1.0"))
    with pytest.raises(ItemNotFound, match=r"you: \^2, team-a/directives::letter: \^1.0"):
        fetched(shelves, seal_of(ada), f"{REFERENCE}@^2", "directives::letter")
    with pytest.raises(UsageError, match=r"letter asked for .*@\^1.0, not 2.0.0"):
        fetched(shelves, seal_of(ada), f"{REFERENCE}@2.0.0", "directives::letter")


def test_what_was_pulled_before_keeps_what_it_needs(ada, shelves, tmp_path):
    for number in ("1.2.0", "1.3.0"):
        shelves.add(ada.greet(number))
    shelves.add(directive(ada, "1.0.0", "tools:paper:greet@~1.2"))
    _, lock = installed(tmp_path / ".ai", shelves, seal_of(ada), "directives::letter")
    [got] = fetched(shelves, seal_of(ada), REFERENCE, lock=lock)
    assert got.record.version == "1.2.0"
    with pytest.raises(UsageError, match=r"letter asked for .*@~1\.2, not 1\.3\.0"):
        fetched(shelves, seal_of(ada), f"{REFERENCE}@1.3.0", lock=lock)


def test_what_is_needed_and_locked_stays_where_it_fits(ada, shelves):
    for number in ("1.2.0", "1.3.0"):
        shelves.add(ada.greet(number))
    shelves.add(directive(ada, "1.0.0", "tools:paper:greet@^1.0"))
    [kept] = fetched(shelves, seal_of(ada), f"{REFERENCE}@1.2.0")
    got = fetched(shelves, seal_of(ada), "directives::letter", lock={REFERENCE: kept.locked})
    assert got[0].record.version == "1.2.0"


# Whom and what to believe.


def test_a_bundle_that_was_tampered_with_is_refused(ada, shelves):
    parcel = ada.greet("1.0.0")
    record, files = unpack(parcel.bundle)
    [file] = files
    evil = file._replace(content=file.content.replace(b"hello", b"evil!"))
    shelves.add(parcel._replace(bundle=pack(record, [evil])))
    with pytest.raises(NotTrusted, match=r"'greet.py' changed since it was signed"):
        fetched(shelves, seal_of(ada), REFERENCE)


def test_a_swapped_file_and_another_record_are_refused(ada, shelves, tmp_path):
    stamp = {"tools/mail/stamp/tool.yaml": MANIFEST, "tools/mail/stamp/stamp.sh": "echo 1\n"}
    parcel = ada.parcel("tools/mail/stamp", "1.0.0", stamp)
    record, files = unpack(parcel.bundle)
    swapped = [f._replace(path={"tool.yaml": "x.yaml"}.get(f.path, f.path)) for f in files]
    more = [*files, files[0]._replace(path="more.txt")]
    for bundle in (
        pack(record, swapped),
        pack(record, more),
        pack(record, files[1:]),
        pack(record._replace(changelog="nothing to see"), files),
        pack(record._replace(version="1.0.1"), files),
        pack(record._replace(namespace="team-b"), files),
    ):
        others = Shelves()
        where = others.add(Parcel(bundle, parcel.side_file))
        with pytest.raises(NotTrusted):
            fetched(others, seal_of(ada), where.reference)


def test_an_older_version_handed_out_under_a_new_number_is_refused(ada, shelves):
    shelves.add(ada.greet("1.0.0"))
    shelves.add(ada.greet("1.1.0", GREET.replace("hello", "good day")))
    shelves.parcels[REFERENCE]["1.1.0"] = shelves.parcels[REFERENCE]["1.0.0"]
    with pytest.raises(NotTrusted, match=r"handed out team-a/tools:paper:greet@1.0.0"):
        fetched(shelves, seal_of(ada), REFERENCE)


def test_a_registry_that_went_back_in_time_is_not_believed(ada, shelves):
    for number in ("1.0.0", "1.1.0"):
        shelves.add(ada.greet(number))
    [got] = fetched(shelves, seal_of(ada), REFERENCE)
    lock = {REFERENCE: got.locked}
    newest = shelves.parcels[REFERENCE].pop("1.1.0")
    with pytest.raises(NotTrusted, match=r"1\.1\.0 was pulled before, which it no longer knows"):
        fetched(shelves, seal_of(ada), REFERENCE, lock=lock)
    with pytest.raises(NotTrusted, match="no longer knows"):
        fetched(shelves, seal_of(ada), f"{REFERENCE}@^1", lock=lock)
    [old] = fetched(shelves, seal_of(ada), f"{REFERENCE}@1.0.0", lock=lock)
    assert old.record.version == "1.0.0"
    shelves.add(newest)
    shelves.yanked[REFERENCE, "1.1.0"] = "broken"
    [old] = fetched(shelves, seal_of(ada), REFERENCE, lock=lock)
    assert old.record.version == "1.0.0"


def test_a_version_that_is_not_what_it_was_is_refused_though_well_signed(ada, shelves):
    shelves.add(ada.greet("1.0.0"))
    [got] = fetched(shelves, seal_of(ada), REFERENCE)
    shelves.add(ada.greet("1.0.0", GREET.replace("hello", "good day")))
    with pytest.raises(NotTrusted, match="not what it was when it was pulled first"):
        fetched(shelves, seal_of(ada), REFERENCE, lock={REFERENCE: got.locked})


def test_keys_that_are_unknown_revoked_or_expired_are_refused(ada, shelves, tmp_path):
    shelves.add(ada.greet("1.0.0"))
    with pytest.raises(NotTrusted, match="is not trusted here"):
        fetched(shelves, seal_of(), REFERENCE)
    known = seal_of(ada)
    for change, reason in (
        ({"revoked_at": "2026-01-01T00:00:00Z"}, "was revoked"),
        ({"valid_until": "2020-01-01T00:00:00Z"}, "trusted only until"),
        ({"namespaces": ("team-b",)}, "not trusted for namespace 'team-a'"),
    ):
        seal = known._replace(trusted={ada.key.id: ada.key._replace(**change)})
        with pytest.raises(NotTrusted, match=reason):
            fetched(shelves, seal, REFERENCE)
    later = known._replace(now=known.now + 3 * 86_400)
    shelves.add(ada.greet("1.1.0", days=1))
    with pytest.raises(NotTrusted, match="its signature ended"):
        fetched(shelves, later, REFERENCE)


def test_where_signatures_are_not_required_an_unknown_signer_is_told(ada, shelves):
    shelves.add(ada.greet("1.0.0"))
    [got] = fetched(shelves, seal_of(policy=Policy.WARN), REFERENCE)
    assert "its signature is not trusted (unknown signer)" in got.notes[0]


def test_a_signature_of_a_folder_is_none_of_a_release(ada, shelves, tmp_path):
    from pegboard.board.trust.signing import item_at, sign

    parcel = ada.greet("1.0.0")
    place = ada.ai / "tools/paper/greet.py"
    sign(ada.keyring, item_at(place, "team-a", 1 << 20), None, None)
    side = place.with_name("greet.py.sig").read_bytes()
    shelves.add(parcel._replace(side_file=side))
    with pytest.raises(NotTrusted, match="signed as no release"):
        fetched(shelves, seal_of(ada), REFERENCE)


def test_a_registry_that_answers_with_another_item_is_not_believed(ada, shelves):
    shelves.add(ada.greet("1.0.0"))
    other = ada.parcel("tools/paper/other.py", "1.0.0", {"tools/paper/other.py": GREET})
    reference = shelves.add(other).reference
    shelf = shelves.shelf(reference)
    shelves.shelf = lambda name: shelf
    for name in (REFERENCE, "tools:paper:greet", "team-b/tools:paper:other"):
        with pytest.raises(NotTrusted, match="answers with team-a/tools:paper:other"):
            fetched(shelves, seal_of(ada), name)


def test_what_is_needed_is_looked_for_nowhere_else(ada, shelves):
    """Not in a namespace where somebody put something of the same name."""
    shelves.add(ada.greet("1.9.0", namespace="evil"))
    shelves.add(directive(ada, "1.0.0", "tools:paper:greet@^1"))
    with pytest.raises(ItemNotFound, match="tools:paper:greet is needed, and not there"):
        fetched(shelves, seal_of(ada), "directives::letter")
    shelves.add(ada.greet("1.2.0", namespace="public"))
    got = fetched(shelves, seal_of(ada), "directives::letter")
    assert got[0].record.reference == "public/tools:paper:greet"


def test_what_only_a_version_needed_that_is_not_chosen_is_not_pulled(ada, shelves):
    shelves.add(ada.greet("1.0.0"))
    shelves.add(directive(ada, "1.0.0", "tools:paper:fold"))
    shelves.add(directive(ada, "1.1.0", "tools:paper:greet@^1"))
    path = "directives/post.md"
    text = (
        '# Post\n\n```xml\n<directive name="post" version="1.0.0">\n<metadata>\n'
        "<description>Post it.</description>\n</metadata>\n<process>\n"
        '<step name="a"><description>A.</description><tool>directives::letter@~1.0</tool></step>\n'
        "</process>\n</directive>\n```\n"
    )
    shelves.add(ada.parcel(path, "1.0.0", {path: text}))
    got = fetched(shelves, seal_of(ada), "directives::letter", "directives::post")
    assert [(each.record.name, each.record.version) for each in got] == [
        ("letter", "1.0.0"),
        ("post", "1.0.0"),
    ]


def test_items_that_need_one_another_are_pulled_once(ada, shelves):
    for name, needs in (("a", "b"), ("b", "a")):
        path = f"directives/{name}.md"
        text = (
            f'# {name}\n\n```xml\n<directive name="{name}" version="1.0.0">\n<metadata>\n'
            "<description>Do it.</description>\n</metadata>\n<process>\n<step name='s'>"
            f"<description>S.</description><tool>directives::{needs}@^1</tool></step>\n"
            "</process>\n</directive>\n```\n"
        )
        shelves.add(ada.parcel(path, "1.0.0", {path: text}))
    got = fetched(shelves, seal_of(ada), "directives::a")
    assert sorted(each.record.name for each in got) == ["a", "b"]


# Into the folder.


@pytest.mark.parametrize(
    "path", [".git/config", ".envrc", "node_modules/x.js", "a/.env", "notes.bak", "tool.yaml.sig"]
)
def test_what_no_folder_would_offer_is_in_no_release(ada, shelves, path):
    """Else it would lie there after a pull, and nobody would have seen it."""
    files = {"tools/mail/stamp/tool.yaml": MANIFEST, "tools/mail/stamp/stamp.sh": "echo 1\n"}
    ada.parcel("tools/mail/stamp", "1.0.0", files)
    release = release_at(ada.ai / "tools/mail/stamp", 1 << 20)
    more = make_file(path, b"[core]\nfsmonitor = evil\n")
    hidden = release._replace(files=(*release.files, more))
    record = recorded(hidden, "team-a", "1.0.0", "", ())
    shelves.add(sealed(hidden, record, ada.keyring, "ada", None))
    with pytest.raises(NotTrusted, match="would be read as"):
        fetched(shelves, seal_of(ada), "tools:mail:stamp")


def test_nothing_is_unpacked_into_another_item(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    own = root / "tools/paper/mine/tool.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(MANIFEST.replace("stamp", "mine"))
    inside = "tools/paper/mine/helper.py"
    shelves.add(ada.parcel(inside, "1.0.0", {inside: GREET}))
    with pytest.raises(UsageError, match="inside of another item"):
        installed(root, shelves, seal_of(ada), "tools:paper/mine:helper", force=True)


def test_what_a_person_keeps_in_the_folder_of_an_item_stays(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    files = {"tools/mail/stamp/tool.yaml": MANIFEST, "tools/mail/stamp/stamp.sh": "echo 1\n"}
    files["tools/mail/stamp/data/old.txt"] = "old\n"
    shelves.add(ada.parcel("tools/mail/stamp", "1.0.0", files))
    _, lock = installed(root, shelves, seal_of(ada), "tools:mail:stamp")
    place = root / "tools/mail/stamp"
    own = (".env", "data/.env", "venv/bin/python", "node_modules/a/b.js", "notes.bak")
    write(place, dict.fromkeys(own, "mine"))
    (ada.ai / "tools/mail/stamp/data/old.txt").unlink()
    shelves.add(ada.parcel("tools/mail/stamp", "1.1.0", {}))
    [done], _ = installed(root, shelves, seal_of(ada), "tools:mail:stamp", lock=lock)
    assert done.state == "updated"
    assert {path: (place / path).read_text() for path in own} == dict.fromkeys(own, "mine")
    assert not (place / "data/old.txt").exists()
    assert [each.name for each in place.parent.iterdir()] == ["stamp"]


def test_a_folder_that_is_a_link_is_not_written_through(ada, shelves, tmp_path):
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "mine" / ".ai"
    elsewhere.mkdir()
    root.parent.mkdir()
    root.symlink_to(elsewhere)
    shelves.add(ada.greet("1.0.0"))
    with pytest.raises(UsageError, match="is a link"):
        installed(root, shelves, seal_of(ada), REFERENCE, force=True)
    assert list(elsewhere.iterdir()) == []


def test_what_is_new_is_written_with_its_signature(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    shelves.add(ada.greet("1.0.0"))
    [done], lock = installed(root, shelves, seal_of(ada), REFERENCE)
    assert done.state == "pulled"
    assert (root / "tools/paper/greet.py").read_text() == GREET
    assert (root / "tools/paper/greet.py.sig").read_bytes() == shelves.parcels[REFERENCE][
        "1.0.0"
    ].side_file
    [again], _ = installed(root, shelves, seal_of(ada), REFERENCE, lock=lock)
    assert again.state == "unchanged"


def test_modes_folders_and_unicode_come_as_they_were(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    files = {"tools/mail/stamp/tool.yaml": MANIFEST, "tools/mail/stamp/stamp.sh": "echo 1\n"}
    files["tools/mail/stamp/été/ñ.txt"] = "voilà\n"
    ada.parcel("tools/mail/stamp", "1.0.0", files)
    (ada.ai / "tools/mail/stamp/stamp.sh").chmod(0o755)
    shelves.add(ada.parcel("tools/mail/stamp", "1.0.0", {}))
    installed(root, shelves, seal_of(ada), "tools:mail:stamp")
    place = root / "tools/mail/stamp"
    assert (place / "été/ñ.txt").read_text("utf-8") == "voilà\n"
    assert os.access(place / "stamp.sh", os.X_OK)
    assert not os.access(place / "été/ñ.txt", os.X_OK) or os.geteuid() == 0
    assert (place / "tool.yaml.sig").is_file()


CHANGED = GREET.replace('"""Greet somebody by name."""', '"""Greet somebody, as I like it."""')
NEWER = GREET.replace('f"hello {name}"', 'f"good day, {name}"')


@pytest.fixture
def mine(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    shelves.add(ada.greet("1.0.0"))
    _, lock = installed(root, shelves, seal_of(ada), REFERENCE)
    shelves.add(ada.greet("1.1.0", NEWER))
    return root, lock


def test_an_update_replaces_what_was_not_touched(ada, shelves, mine):
    root, lock = mine
    [done], lock = installed(root, shelves, seal_of(ada), REFERENCE, lock=lock)
    assert (done.state, done.before) == ("updated", "1.0.0")
    assert (root / "tools/paper/greet.py").read_text() == NEWER


def test_what_was_changed_here_is_kept_unless_somebody_says_otherwise(ada, shelves, mine):
    root, lock = mine
    place = root / "tools/paper/greet.py"
    place.write_text(CHANGED)
    with pytest.raises(UsageError, match=r"was changed here since 1\.0\.0: greet\.py") as raised:
        installed(root, shelves, seal_of(ada), REFERENCE, lock=lock)
    assert "--merge" in raised.value.hint
    assert place.read_text() == CHANGED
    installed(root, shelves, seal_of(ada), REFERENCE, lock=lock, force=True)
    assert place.read_text() == NEWER


@pytest.mark.program
def test_a_merge_has_both_changes_and_is_signed_by_nobody(ada, shelves, mine):
    root, lock = mine
    place = root / "tools/paper/greet.py"
    place.write_text(CHANGED)
    [done], lock = installed(root, shelves, seal_of(ada), REFERENCE, lock=lock, merge=True)
    assert done.state == "merged"
    assert "as I like it" in place.read_text()
    assert "good day" in place.read_text()
    assert not place.with_name("greet.py.sig").exists()
    assert shelves.downloads.count((REFERENCE, "1.0.0")) == 1  # what it is merged by is not counted
    assert lock[REFERENCE].merged
    [same], lock = installed(root, shelves, seal_of(ada), REFERENCE, lock=lock, merge=True)
    assert same.state == "unchanged"
    kept = Comparing(root, lock, shelves, restoring=True)
    [got] = Fetching(shelves, seal_of(ada), lock).as_locked()
    assert kept.planned(got).state == "unchanged"  # and nothing is in the way of all others
    shelves.add(ada.greet("1.2.0", NEWER.replace("politely", "very politely")))
    [done], _ = installed(root, shelves, seal_of(ada), REFERENCE, lock=lock, merge=True)
    assert {"as I like it", "good day", "very politely"} <= {
        each for each in ("as I like it", "good day", "very politely") if each in place.read_text()
    }


@pytest.mark.program
def test_changes_of_the_same_place_are_not_merged_and_nothing_is_written(ada, shelves, mine):
    root, lock = mine
    place = root / "tools/paper/greet.py"
    mine_too = GREET.replace("hello", "ahoy")
    place.write_text(mine_too)
    with pytest.raises(UsageError, match=r"in the same place: greet\.py"):
        installed(root, shelves, seal_of(ada), REFERENCE, lock=lock, merge=True)
    assert place.read_text() == mine_too
    assert place.with_name("greet.py.sig").exists()


def test_what_lies_there_and_was_never_pulled_is_not_overwritten(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    place = root / "tools/paper/greet.py"
    place.parent.mkdir(parents=True)
    place.write_text("mine")
    shelves.add(ada.greet("1.0.0"))
    for merge in (False, True):
        with pytest.raises(UsageError, match="was not pulled"):
            installed(root, shelves, seal_of(ada), REFERENCE, merge=merge)
    assert place.read_text() == "mine"
    place.write_text(GREET)
    [done], _ = installed(root, shelves, seal_of(ada), REFERENCE)
    assert done.state == "pulled"


def test_an_item_of_the_same_id_in_another_form_is_not_shadowed(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    other = root / "tools/paper/greet/tool.yaml"
    other.parent.mkdir(parents=True)
    other.write_text(MANIFEST)
    shelves.add(ada.greet("1.0.0"))
    with pytest.raises(UsageError, match="has the same id"):
        installed(root, shelves, seal_of(ada), REFERENCE, force=True)


def test_nothing_is_unpacked_through_a_link(ada, shelves, tmp_path):
    root, elsewhere = tmp_path / "mine" / ".ai", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "tools").mkdir(parents=True)
    (root / "tools/paper").symlink_to(elsewhere)
    shelves.add(ada.greet("1.0.0"))
    with pytest.raises(UsageError, match="is a link"):
        installed(root, shelves, seal_of(ada), REFERENCE, force=True)
    assert list(elsewhere.iterdir()) == []


def test_a_pull_that_was_killed_between_two_renames_is_taken_up_again(ada, shelves, tmp_path):
    root = tmp_path / "mine" / ".ai"
    files = {"tools/mail/stamp/tool.yaml": MANIFEST, "tools/mail/stamp/stamp.sh": "echo 1\n"}
    shelves.add(ada.parcel("tools/mail/stamp", "1.0.0", files))
    _, lock = installed(root, shelves, seal_of(ada), "tools:mail:stamp")
    place = root / "tools/mail/stamp"
    place.rename(place.with_name(".stamp.pulled-over"))
    files["tools/mail/stamp/stamp.sh"] = "echo 2\n"
    shelves.add(ada.parcel("tools/mail/stamp", "1.1.0", files))
    [done], _ = installed(root, shelves, seal_of(ada), "tools:mail:stamp", lock=lock)
    assert done.state == "updated"
    assert (place / "stamp.sh").read_text() == "echo 2\n"
    assert [each.name for each in place.parent.iterdir()] == ["stamp"]


# The lock file.


def test_the_lock_file_says_it_all_without_any_place(ada, shelves, tmp_path):
    shelves.add(ada.greet("1.0.0"))
    _, lock = installed(tmp_path / ".ai", shelves, seal_of(ada), f"{REFERENCE}@^1")
    place = tmp_path / "pegboard.lock"
    write_lock(place, lock)
    assert read_lock(place) == lock
    text = place.read_text()
    write_lock(place, dict(reversed(lock.items())))
    assert place.read_text() == text
    assert "://" not in text
    assert str(tmp_path) not in text
    assert lock[REFERENCE].range == "^1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"pegboard": 2, "items": {}}',
        '{"pegboard": 1}',
        '{"pegboard": 1, "items": {"a": 1}}',
        '{"pegboard": 1, "items": []}',
        "\xff",
        "[" * 100_000,
    ],
)
def test_a_lock_file_that_is_damaged_is_an_error_and_not_empty(tmp_path, text):
    place = tmp_path / "pegboard.lock"
    place.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match="is damaged"):
        read_lock(place)


def test_a_lock_file_leads_nowhere_else(ada, shelves, tmp_path):
    shelves.add(ada.greet("1.0.0"))
    _, lock = installed(tmp_path / ".ai", shelves, seal_of(ada), REFERENCE)
    place = tmp_path / "pegboard.lock"
    write_lock(place, {REFERENCE: lock[REFERENCE]._replace(path="tools/../../evil.py")})
    with pytest.raises(ConfigError, match="leads out"):
        read_lock(place)


def test_a_bundle_made_twice_is_the_same_whoever_signs_it(tmp_path):
    """Two people on two machines: their files were written at other times, in another order."""
    ada, bob = Publisher(tmp_path / "a"), Publisher(tmp_path / "b", "bob")
    one, other = ada.greet("1.0.0"), bob.greet("1.0.0")
    assert one.sha256 == other.sha256
    assert one.side_file != other.side_file


def test_nothing_is_signed_that_nobody_would_believe(ada):
    ada.greet("1.0.0")
    ada.keyring.revoke("ada", "lost", "2026-01-01T00:00:00Z")
    release = release_at(ada.ai / "tools/paper/greet.py", 1 << 20)
    record = recorded(release, "team-a", "1.0.0", "", ())
    with pytest.raises(NotTrusted, match="was revoked"):
        sealed(release, record, ada.keyring, "ada", None)


def test_a_release_without_a_number_is_told_a_free_one(ada):
    ada.greet("1.0.0")
    release = release_at(ada.ai / "tools/paper/greet.py", 1 << 20)
    for there, number in (((), "1.0.0"), (("1.0.0", "1.4.2"), "1.4.3"), (("2.0.0-rc.1",), "2.0.0")):
        with pytest.raises(UsageError) as raised:
            recorded(release, "team-a", "", "", there)
        assert raised.value.hint == f"give it one: --version {number}"
