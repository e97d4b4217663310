"""Published items: versions that never change, and the one that hangs."""

import pytest
from blobs_parts import LARGE, content_of
from release_parts import (
    KEY,
    SEND,
    hanging,
    kept,
    line_of,
    numbers,
    publish,
    release,
    version,
    yank,
)

from making import by_hand, entry_of, make_file, make_item, retire, word_hits, work
from pegboard.errors import ChangedMeanwhile, ItemNotFound, UsageError
from pegboard.model.content import Link, Version
from pegboard.model.curation import Edit, Event, etag
from pegboard.model.items import CREATED, Drift, EmbeddingStatus, Kind, Visibility
from pegboard.model.releases import Decision, Published
from pegboard.store.versioning import MOST_VERSIONS, hung

# Which version hangs.


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([], None),
        (["1.0.0"], "1.0.0"),
        (["1.2.0", "1.10.0", "1.9.9"], "1.10.0"),
        (["1.0.0", "2.0.0-rc.1"], "1.0.0"),
        (["1.0.0-rc.2", "1.0.0-rc.10", "1.0.0-beta"], "1.0.0-rc.10"),
        (["1.0.0", "-2.0.0"], "1.0.0"),
        (["1.0.0-rc.1", "-1.0.0"], "1.0.0-rc.1"),
        (["-1.0.0", "-1.0.0-rc.1"], None),
    ],
)
def test_the_highest_release_hangs_that_was_not_taken_back(versions, expected):
    """One with a minus was."""
    assert hung((each.lstrip("-"), each.startswith("-")) for each in versions) == expected


# Publishing.


def test_a_first_version_is_the_item(store):
    item = release("1.0.0")
    assert store.releases.publish(item, None, "alice") == Published("published", "1.0.0")
    entry = entry_of(store, item)
    assert (entry.item, entry.active, entry.drift) == (item, True, Drift.NONE)
    assert kept(store, "1.0.0") == item.version
    assert [hit.id for hit in word_hits(store, ["send"])] == [item.id]
    assert store.check() == []


def test_a_list_says_of_each_version_all_that_there_is(store):
    publish(store, "1.0.0")
    [line] = store.items.versions(SEND.id, "public")
    made = version("1.0.0")
    assert line._replace(created_at=0) == (
        *("1.0.0", made.content_hash, 0, "What 1.0.0 is.", None, "", "", "alice", KEY.signer),
        *(len(made.files[0].content), 0),
    )
    assert 0 < line.created_at <= store.now()


def test_an_older_number_adds_a_version_and_changes_nothing_else(store):
    publish(store, "1.1.0")
    before = entry_of(store, SEND)
    told = store.releases.publish(release("1.0.9"), None, "alice")
    assert told == Published("published", "1.1.0")
    assert entry_of(store, SEND) == before
    assert kept(store, "1.0.9") == version("1.0.9")
    assert word_hits(store, ["1.0.9"]) == []
    assert store.check() == []


def test_versions_are_listed_by_precedence_whenever_they_came(store):
    publish(store, "1.10.0", "1.9.0", "2.0.0-rc.1", "1.0.0-alpha", "1.0.0", "2.0.0-rc.1.1")
    assert numbers(store) == [
        *("2.0.0-rc.1.1", "2.0.0-rc.1", "1.10.0", "1.9.0", "1.0.0", "1.0.0-alpha")
    ]
    assert hanging(store) == "1.10.0"
    assert store.check() == []


def test_a_pre_release_hangs_until_there_is_a_release(store):
    publish(store, "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-beta")
    assert hanging(store) == "1.0.0-rc.2"
    publish(store, "0.9.0")
    assert hanging(store) == "0.9.0"


def test_the_item_is_put_anew_when_another_version_hangs(store, embedder):
    """Text, links, task and vector are of the one that hangs, and of no other."""
    target = embedder.fingerprint
    publish(store, "1.0.0", target=target, links=(Link("uses", "old", "^1"),))
    work(store, embedder)
    linked = release("2.0.0", description="Quite a zebra.", links=(Link("uses", "new"),))
    assert store.releases.publish(linked, target, "alice").latest == "2.0.0"
    entry = entry_of(store, SEND)
    assert entry.item == linked
    assert entry.embedding.status is EmbeddingStatus.PENDING
    assert [tie.target for tie in store.curation.ties(entry.key)] == ["new"]
    assert [hit.id for hit in word_hits(store, ["zebra"])] == [SEND.id]
    [task] = work(store, embedder)
    assert "zebra" in task.text
    publish(store, "1.5.0", target=target)
    assert entry_of(store, SEND).embedding.status is EmbeddingStatus.READY
    assert store.check() == []


def test_the_same_release_again_changes_nothing(store):
    publish(store, "1.0.0", "1.1.0")
    before = entry_of(store, SEND), store.items.versions(SEND.id, "public")
    for number in ("1.0.0", "1.1.0"):
        told = store.releases.publish(release(number), None, "bob")
        assert told == Published("unchanged", "1.1.0")
    assert (entry_of(store, SEND), store.items.versions(SEND.id, "public")) == before


@pytest.mark.parametrize("number", ["1.0.0", "1.1.0"])
def test_the_same_content_with_another_record_is_the_same(store, number):
    """The changelog may have been left out, or the signature be a new one."""
    publish(store, "1.0.0", "1.1.0")
    item = release(number)._replace(version=version(number)._replace(release="another"))
    assert store.releases.publish(item, None, "alice") == Published("unchanged", "1.1.0")
    assert kept(store, number) == version(number)


@pytest.mark.parametrize("number", ["1.0.0", "1.1.0"])
def test_another_release_of_the_same_number_is_refused(store, number):
    publish(store, "1.0.0", "1.1.0")
    before = entry_of(store, SEND), store.items.versions(SEND.id, "public")
    told = store.releases.publish(release(number, b"other"), None, "alice")
    assert (told.state, told.refused.code) == ("refused", "version_exists")
    assert told.refused.reason.endswith("a number that is free, such as 1.0.1") or number == "1.1.0"
    assert (entry_of(store, SEND), store.items.versions(SEND.id, "public")) == before
    assert kept(store, number) == version(number)


@pytest.mark.parametrize(
    "number", ["", "1", "1.0", "v1.0.0", "1.0.0+build", "01.0.0", "1.0.0-01", "1.0.0-", "latest"]
)
def test_only_a_strict_number_is_published(store, number):
    told = store.releases.publish(release(number), None, "alice")
    assert (told.state, told.refused.code) == ("refused", "bad_version")
    assert store.items.get(SEND.id, "public") is None


def test_what_has_no_version_or_is_from_elsewhere_is_not_published(store):
    nothing = SEND._replace(version=None)
    assert store.releases.publish(nothing, None, "alice").refused.code == "bad_version"
    with pytest.raises(UsageError, match="from source 'tools'"):
        store.releases.publish(release("1.0.0", source="tools"), None, "alice")


def test_what_was_decided_about_an_item_stays(store):
    publish(store, "1.0.0")
    decision = Decision(Visibility.UNLISTED, "bob", True, "mcptools:mail:post")
    assert store.releases.decide(entry_of(store, SEND), decision, "alice")
    publish(store, "2.0.0", author="carol", visibility=Visibility.PUBLIC)
    found = entry_of(store, SEND).item
    assert found.version == version("2.0.0")
    assert (found.author, found.visibility) == ("bob", Visibility.UNLISTED)
    assert (found.deprecated, found.replacement) == (True, "mcptools:mail:post")
    assert store.check() == []


def test_what_a_person_said_and_switched_off_stays(store):
    publish(store, "1.0.0", tags=("post",))
    edit = Edit(description="In my words.", tags=("mine",), active=False, reason="broken")
    store.curation.edit(entry_of(store, SEND), edit, "mia", None)
    publish(store, "2.0.0", tags=("letters",))
    entry = entry_of(store, SEND)
    assert (entry.active, entry.off_by, entry.off_reason) == (False, "mia", "broken")
    assert (entry.item.description, entry.item.tags) == ("In my words.", ("mine",))
    assert (entry.imported_description, entry.imported_tags) == ("Sends as of 2.0.0.", ("letters",))
    assert entry.item.version == version("2.0.0")
    assert store.check() == []


def test_no_version_is_ever_dropped(store):
    every = [f"0.0.{n}" for n in range(MOST_VERSIONS + 4)]
    publish(store, *every)
    assert sorted(numbers(store)) == sorted(every)
    assert kept(store, "0.0.0") == version("0.0.0")


def test_an_id_that_another_source_has_is_refused(store):
    store.items.put([make_item("send", version=Version("1.0.0", "h"))], None)
    told = store.releases.publish(release("2.0.0"), None, "alice")
    assert (told.state, told.refused.code) == ("refused", "id_taken")
    assert entry_of(store, SEND).item.source == "tools"


def test_what_is_gone_from_another_source_makes_room_with_all_it_had(store):
    store.items.put([make_item("send", version=Version("9.0.0", "h"), author="bob")], None)
    retire(store)
    publish(store, "1.0.0")
    assert (numbers(store), hanging(store)) == (["1.0.0"], "1.0.0")
    assert entry_of(store, SEND).item == release("1.0.0")
    assert store.check() == []


@pytest.mark.parametrize("back", [True, False])
def test_no_other_source_gets_the_id_of_what_is_published(store, back):
    publish(store, "1.0.0")
    if back:
        yank(store, "1.0.0", None)
    for item in (make_item("send"), make_item("send", source=CREATED)):
        [refused] = store.items.put([item], None).refused
        assert refused.code == "id_taken"
    assert numbers(store) == ["1.0.0"]


def test_what_is_published_is_not_put(store):
    publish(store, "1.0.0", "1.1.0")
    for item in (release("1.1.0", b"other"), release("2.0.0"), release("1.1.0")):
        with pytest.raises(UsageError, match="not to be put"):
            store.items.put([make_item("post"), item], None)
    assert kept(store, "1.1.0") == version("1.1.0")
    assert (numbers(store), store.items.named("post")) == (["1.1.0", "1.0.0"], [])
    assert store.check() == []


def test_large_files_lie_where_they_do_for_a_put(store, tmp_path):
    content = content_of(LARGE, 1)
    publish(store, "1.0.0", "1.1.0")
    told = store.releases.publish(release("1.0.5", content), None, "alice")
    assert told == Published("published", "1.1.0")
    assert kept(store, "1.0.5").files[0].content == content
    assert line_of(store, "1.0.5").size_bytes == LARGE
    assert store.unused_files(-60.0) == []


def test_a_release_that_fails_leaves_nothing(store):
    publish(store, "1.0.0")
    twice = version("2.0.0")._replace(files=(make_file("a.py"), make_file("a.py")))
    for number in ("2.0.0", "0.5.0"):
        broken = release(number)._replace(version=twice._replace(version=number))
        with pytest.raises(Exception, match=r"UNIQUE|such a row"):
            store.releases.publish(broken, None, "alice")
    assert (numbers(store), hanging(store)) == (["1.0.0"], "1.0.0")
    assert len(store.releases.audit()) == 1
    assert store.check() == []


# Taking back.


def test_a_version_that_is_taken_back_is_had_by_its_number_only(store):
    publish(store, "1.0.0", "1.1.0")
    assert yank(store, "1.1.0", "1.0.0")
    assert hanging(store) == "1.0.0"
    assert entry_of(store, SEND).item == release("1.0.0")
    assert kept(store, "1.1.0") == version("1.1.0")
    line = line_of(store, "1.1.0")
    assert (line.yanked_by, line.yank_reason) == ("alice", "it fails")
    assert line.created_at <= line.yanked_at <= store.now()
    assert store.check() == []


def test_what_is_not_the_latest_is_taken_back_without_a_change_of_the_item(store):
    publish(store, "1.0.0", "1.1.0")
    before = entry_of(store, SEND)
    assert yank(store, "1.0.0", "1.1.0")
    assert entry_of(store, SEND) == before
    assert line_of(store, "1.0.0").yanked_at


def test_to_take_it_back_again_changes_nothing(store):
    publish(store, "1.0.0", "1.1.0")
    assert yank(store, "1.1.0", "1.0.0")
    before = store.items.versions(SEND.id, "public")
    assert not yank(store, "1.1.0", "1.0.0", reason="for another reason", by="bob")
    assert store.items.versions(SEND.id, "public") == before
    assert not yank(store, "1.0.0", "1.0.0", yanked=False)


def test_an_item_whose_versions_were_all_taken_back_is_missing(store, embedder):
    publish(store, "1.0.0", target=embedder.fingerprint)
    assert yank(store, "1.0.0", None)
    entry = entry_of(store, SEND)
    assert (entry.active, entry.drift) == (False, Drift.MISSING)
    assert word_hits(store, ["send"]) == store.items.named("send") == []
    assert numbers(store) == ["1.0.0"]
    [told] = store.curation.history(SEND.id)
    assert (told.event, told.by, told.detail) == (
        Event.MISSING,
        "alice",
        "every version was taken back",
    )
    assert store.tasks.waiting(embedder.fingerprint) == 0
    assert store.check() == []


@pytest.mark.parametrize("number", ["0.5.0", "2.0.0", "2.0.0-rc.1"])
def test_a_new_version_brings_it_back(store, number):
    publish(store, "1.0.0")
    yank(store, "1.0.0", None)
    told = store.releases.publish(release(number), None, "alice")
    assert told == Published("published", number)
    assert hanging(store) == number
    assert store.curation.history(SEND.id)[0].event is Event.RETURNED
    assert store.check() == []


def test_what_was_taken_back_stays_so_when_it_is_published_again(store):
    publish(store, "1.0.0")
    yank(store, "1.0.0", None)
    assert store.releases.publish(release("1.0.0"), None, "alice") == Published("unchanged", "")
    assert hanging(store) is None


def test_taking_back_is_taken_back(store, embedder):
    publish(store, "1.0.0", "1.1.0")
    yank(store, "1.1.0", "1.0.0")
    yank(store, "1.0.0", None)
    assert yank(store, "1.1.0", "1.1.0", yanked=False, target=embedder.fingerprint)
    assert hanging(store) == "1.1.0"
    assert entry_of(store, SEND).item == release("1.1.0")
    assert line_of(store, "1.1.0")[4:7] == (None, "", "")
    assert len(work(store, embedder)) == 1
    assert yank(store, "1.0.0", "1.1.0", yanked=False)
    assert store.check() == []


def test_what_a_person_switched_off_stays_so_whatever_hangs(store):
    publish(store, "1.0.0", "1.1.0")
    store.curation.deactivate(entry_of(store, SEND), "mia", "broken")
    yank(store, "1.1.0", "1.0.0")
    assert entry_of(store, SEND).active is False
    yank(store, "1.0.0", None)
    yank(store, "1.0.0", "1.0.0", yanked=False)
    entry = entry_of(store, SEND)
    assert (entry.active, entry.off_by, entry.drift) == (False, "mia", Drift.NONE)
    assert store.check() == []


@pytest.mark.parametrize("becomes", [None, "0.9.0", "1.1.0", "3.0.0"])
def test_a_decision_about_other_versions_than_there_are_is_not_made(store, becomes):
    publish(store, "0.9.0", "1.0.0", "1.1.0")
    before = entry_of(store, SEND), store.items.versions(SEND.id, "public")
    with pytest.raises(ChangedMeanwhile):
        yank(store, "1.1.0", becomes)
    assert (entry_of(store, SEND), store.items.versions(SEND.id, "public")) == before


def test_nor_one_in_which_the_other_version_is_something_else(store):
    publish(store, "1.0.0", "1.1.0")
    entry, other = entry_of(store, SEND), release("1.0.0", b"x")
    with pytest.raises(ChangedMeanwhile):
        store.releases.yank(entry, "1.1.0", yanked=True, by="alice", becomes=other, target=None)
    assert hanging(store) == "1.1.0"


def test_nothing_else_takes_the_place_of_what_is_taken_back(store):
    publish(store, "1.0.0", "1.1.0")
    publish(store, "1.0.0", name="post")
    right, entry = release("1.0.0"), entry_of(store, SEND)
    for other in (
        release("1.0.0", name="post"),
        right._replace(namespace="a"),
        right._replace(source="tools"),
    ):
        with pytest.raises(UsageError, match="no version of"):
            store.releases.yank(entry, "1.1.0", yanked=True, by="", becomes=other, target=None)
    assert hanging(store) == "1.1.0"


def test_older_names_of_the_tables_tell_which_is_the_latest(postgres_store):
    publish(postgres_store, "1.10.0", "1.9.0", "2.0.0-rc.1", kind=Kind.TOOL)
    shown = "SELECT version FROM tool_versions WHERE is_latest"
    assert by_hand(postgres_store, shown) == [("1.10.0",)]
    yank(postgres_store, "1.10.0", "1.9.0")
    assert by_hand(postgres_store, shown) == [("1.9.0",)]
    assert by_hand(postgres_store, "SELECT latest_version FROM tools") == [("1.9.0",)]


def test_only_what_is_there_and_was_published_is_taken_back(store):
    publish(store, "1.0.0")
    entry = entry_of(store, SEND)
    with pytest.raises(ItemNotFound, match=r"no published version 3\.0\.0"):
        yank(store, "3.0.0", "1.0.0")
    store.curation.remove(entry, "alice")
    with pytest.raises(ChangedMeanwhile, match="gone"):
        yank(store, "1.0.0", None, entry=entry)
    plain = make_item("send", version=Version("1.0.0", "h"))
    store.items.put([plain], None)
    with pytest.raises(ItemNotFound):
        yank(store, "1.0.0", None)


# Decisions and downloads.


def test_a_decision_leaves_text_and_vector_alone(store, embedder):
    publish(store, "1.0.0", target=embedder.fingerprint)
    work(store, embedder)
    before = entry_of(store, SEND)
    decision = Decision(owner="bob", deprecated=True, replacement="post")
    after = store.releases.decide(before, decision, "alice")
    assert after == entry_of(store, SEND)._replace(item=after.item)
    expected = release("1.0.0")._replace(author="bob", deprecated=True, replacement="post")
    assert entry_of(store, SEND).item == expected
    assert after.embedding == before.embedding
    assert etag(after) != etag(before)
    assert [hit.id for hit in word_hits(store, ["send"])] == [SEND.id]
    assert store.check() == []


def test_what_is_not_listed_is_not_found_until_it_is_public_again(store):
    publish(store, "1.0.0", visibility=Visibility.UNLISTED, description="A zebra.")
    entry = entry_of(store, SEND)
    assert store.index.words_like(["zebra"], [], 5).near == []
    assert word_hits(store, ["zebra"]) == []
    entry = store.releases.decide(entry, Decision(Visibility.PUBLIC), "alice")
    assert [hit.id for hit in word_hits(store, ["zebra"])] == [SEND.id]
    store.releases.decide(entry, Decision(Visibility.PRIVATE), "alice")
    assert word_hits(store, ["zebra"]) == []
    assert store.check() == []


def test_a_decision_for_what_is_already_so_changes_nothing(store):
    publish(store, "1.0.0")
    before = entry_of(store, SEND)
    same = Decision(Visibility.PUBLIC, "alice", False, "")
    for decision in (Decision(), same):
        store.releases.decide(before, decision, "alice")
    assert entry_of(store, SEND) == before
    assert len(store.releases.audit()) == 1


def test_what_cannot_be_owned_like_that_is_refused(store):
    publish(store, "1.0.0", namespace="a")
    item = release("1.0.0", namespace="a")
    entry = entry_of(store, item)
    for decision, told in (
        (Decision(owner="@b"), "@b cannot own"),
        (Decision(owner=""), "belong to somebody"),
        (Decision(Visibility.PRIVATE, "@a"), "nobody would see it"),
    ):
        with pytest.raises(UsageError, match=told):
            store.releases.decide(entry, decision, "alice")
    entry = store.releases.decide(entry, Decision(owner="@a"), "alice")
    with pytest.raises(UsageError, match="nobody would see it"):
        store.releases.decide(entry, Decision(Visibility.PRIVATE), "alice")
    hidden = release("1.0.0", name="post", author="@public", visibility=Visibility.PRIVATE)
    with pytest.raises(UsageError, match="nobody would see it"):
        store.releases.publish(hidden, None, "alice")


def test_only_what_was_published_is_decided_about(store):
    store.items.put([make_item("send")], None)
    entry = entry_of(store, SEND)
    with pytest.raises(UsageError, match="not published here"):
        store.releases.decide(entry, Decision(deprecated=True), "alice")
    store.curation.remove(entry, "alice")
    assert store.releases.decide(entry, Decision(deprecated=True), "alice") is None


def test_downloads_are_counted_for_the_version_and_the_item(store):
    publish(store, "1.0.0", "1.1.0")
    before = entry_of(store, SEND)
    for number in ("1.0.0", "1.1.0", "1.0.0", "9.9.9"):
        store.releases.count_download(SEND.id, "public", number)
    store.releases.count_download(SEND.id, "elsewhere", "1.0.0")
    after = entry_of(store, SEND)
    assert after == before._replace(download_count=3)
    assert etag(after) == etag(before)
    counts = {line.number: line.download_count for line in store.items.versions(SEND.id, "public")}
    assert counts == {"1.0.0": 2, "1.1.0": 1}


def test_counts_stay_when_another_version_comes(store):
    publish(store, "1.0.0")
    store.releases.count_download(SEND.id, "public", "1.0.0")
    publish(store, "1.1.0")
    assert entry_of(store, SEND).download_count == 1
    assert line_of(store, "1.0.0").download_count == 1
