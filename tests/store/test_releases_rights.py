"""Who may publish where, and decide about what is published."""

import pytest
from release_parts import SEND, hanging, kept, line_of, numbers, publish, release, version, yank
from seen_parts import ALICE, AMOS, ANN, ANON, BOB, CAROL, POSTMASTER, ROOT

from making import entry_of, make_item
from pegboard.errors import NotAllowed, UsageError
from pegboard.model.calls import Caller, Role
from pegboard.model.items import CREATED, Filters, Visibility, WordQuery
from pegboard.model.releases import Action, AuditLine, Decision, Published
from pegboard.text import variants

ADA = Caller("ada", ("a",), Role.AUTHOR)
"""Another author where Alice is one."""
TEAM_A = "@a"


def of_a(number="1.0.0", **fields):
    return release(number, **({"namespace": "a"} | fields))


IN_A = of_a()


@pytest.fixture
def seen(store):
    return lambda caller: store.seen_by(caller)


def published(store, caller, *items):
    return [store.seen_by(caller).releases.publish(item, None, "whoever").state for item in items]


# Where, and in whose name.


def test_an_author_publishes_in_his_namespace_in_his_own_name(store):
    assert published(store, ALICE, of_a("1.0.0"), of_a("1.1.0")) == ["published"] * 2
    assert hanging(store, IN_A) == "1.1.0"
    assert entry_of(store, IN_A).item.author == "alice"
    assert line_of(store, "1.1.0", IN_A).published_by == "alice"  # whatever name comes with it
    assert {line.who for line in store.releases.audit()} == {"alice"}


@pytest.mark.parametrize(
    ("caller", "item"),
    [
        (AMOS, of_a(author="amos")),
        (ANON, of_a(author="")),
        (BOB, of_a(author="bob")),
        (CAROL, release("1.0.0", author="carol")),
        (ALICE, of_a(author="ada")),
        (ALICE, of_a(author="")),
        (ALICE, of_a(author="@b")),
        (ALICE, of_a(source=CREATED)),
        (ALICE, of_a(source="tools")),
        (ALICE, of_a(official=True)),
        (ANN, of_a(official=True)),
        (ANN, release("1.0.0", author="ann")),
        (ALICE, of_a(executor={"server": "elsewhere"})),
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_everything_else_is_refused_in_the_same_words_whether_there_is_such_an_item(
    store, caller, item, there
):
    if there:
        store.releases.publish(release("0.1.0", namespace=item.namespace), None, "owner")
    with pytest.raises(NotAllowed) as told:
        store.seen_by(caller).releases.publish(item, None, "alice")
    said = told.value.message
    assert said.startswith(f"{item.id} cannot be put") or said == (
        "namespace 'a' has no server 'elsewhere'"
    )
    assert numbers(store, item) == (["0.1.0"] if there else [])


def test_an_admin_publishes_in_anybodys_name(store):
    items = [of_a(name="one", author="ann"), of_a(name="two", author="alice")]
    assert published(store, ANN, *items, of_a(name="three", author=TEAM_A)) == ["published"] * 3
    assert entry_of(store, items[1]).item.author == "alice"
    assert line_of(store, "1.0.0", items[1]).published_by == "ann"


def test_a_put_still_takes_nothing_that_is_published(store):
    with pytest.raises(NotAllowed, match="source 'published'"):
        store.seen_by(ALICE).items.put([of_a()], None)


# Of what is there.


@pytest.mark.parametrize("visibility", Visibility)
def test_a_new_version_is_the_owners_or_an_admins_who_sees_it(store, visibility):
    published(store, ALICE, of_a(visibility=visibility))
    [told] = [store.seen_by(ADA).releases.publish(of_a("2.0.0", author="ada"), None, "")]
    assert (told.state, told.refused.code) == ("refused", "id_taken")
    assert told.refused.reason.endswith("is somebody else's; choose another name")
    hidden = visibility is Visibility.PRIVATE
    expected = ["refused" if hidden else "published"]
    assert published(store, ANN, of_a("3.0.0", author="ann")) == expected
    assert published(store, ALICE, of_a("4.0.0")) == ["published"]
    assert numbers(store, IN_A) == ["4.0.0", *(() if hidden else ("3.0.0",)), "1.0.0"]
    assert entry_of(store, IN_A).item.author == "alice"


def test_the_refusal_does_not_tell_whether_the_release_is_there(store):
    """Not even for the same content, which for its owner would be no change."""
    published(store, ALICE, of_a(visibility=Visibility.PRIVATE))
    for number in ("1.0.0", "2.0.0"):
        told = store.seen_by(ADA).releases.publish(of_a(number, author="ada"), None, "")
        assert (told.state, told.latest, told.refused.code) == ("refused", "", "id_taken")


def test_what_a_team_owns_every_author_there_publishes(store):
    assert published(store, ALICE, of_a("1.0.0", author=TEAM_A)) == ["published"]
    assert published(store, ADA, of_a("1.1.0", author="ada")) == ["published"]
    assert published(store, ANN, of_a("1.2.0", author="ann")) == ["published"]
    with pytest.raises(NotAllowed):
        published(store, AMOS, of_a("1.3.0", author="amos"))
    found = entry_of(store, IN_A)
    assert (found.item.author, hanging(store, IN_A)) == (TEAM_A, "1.2.0")
    by = [store.items.versions(IN_A.id, "a")[place].published_by for place in (0, 1, 2)]
    assert by == ["ann", "ada", "alice"]
    assert yank(store.seen_by(ADA), "1.2.0", "1.1.0", entry=found)
    with pytest.raises(NotAllowed):
        yank(store.seen_by(AMOS), "1.1.0", "1.0.0", entry=found)


def test_what_a_team_owns_its_authors_edit_and_nobody_elsewhere(store):
    item = make_item("send", namespace="a", author=TEAM_A)
    store.items.put([item], None)
    entry = entry_of(store, item)
    assert store.seen_by(ADA).curation.describe(entry, "Ours.", "", None)
    for caller in (AMOS, BOB):
        with pytest.raises(NotAllowed):
            store.seen_by(caller).curation.describe(entry, "Mine.", "", None)
    other = Caller("x", ("b", "a/b"), Role.AUTHOR)
    assert not other.may_decide("b", TEAM_A)
    assert not Caller("", ("a",), Role.AUTHOR).may_decide("a", TEAM_A)


# Decisions.


@pytest.mark.parametrize("visibility", Visibility)
@pytest.mark.parametrize("caller", [ALICE, ADA, AMOS, ANN, ANON, BOB, POSTMASTER, ROOT])
def test_whoever_may_change_an_item_takes_back_and_decides(store, caller, visibility):
    published(store, ALICE, of_a("1.0.0", visibility=visibility), of_a("1.1.0"))
    entry, view = entry_of(store, IN_A), store.seen_by(caller)
    may = caller in (ALICE, ROOT) or (caller is ANN and visibility is not Visibility.PRIVATE)
    if may:
        assert yank(view, "1.1.0", "1.0.0", entry=entry, by="alice")
        assert view.releases.decide(entry, Decision(deprecated=True), "alice")
        who = caller.subject if caller is not ROOT else "alice"
        assert {line.who for line in store.releases.audit(limit=2)} == {who}
        return
    before = entry_of(store, IN_A), store.items.versions(IN_A.id, "a")
    for what in (
        lambda: yank(view, "1.1.0", "1.0.0", entry=entry),
        lambda: yank(view, "9.9.9", None, entry=entry),
        lambda: view.releases.decide(entry, Decision(Visibility.PUBLIC, "eve"), "alice"),
    ):
        with pytest.raises(NotAllowed) as told:
            what()
        assert told.value.message == f"{IN_A.id} in namespace 'a' is not yours to change"
    assert (entry_of(store, IN_A), store.items.versions(IN_A.id, "a")) == before


def test_what_is_not_there_is_refused_like_what_is_somebody_elses(store):
    published(store, ALICE, of_a())
    entry = entry_of(store, IN_A)
    ghost = entry._replace(key=entry.key + 1)
    for each in (entry, ghost):
        with pytest.raises(NotAllowed, match="is not yours to change"):
            store.seen_by(ADA).releases.decide(each, Decision(owner="ada"), "")


def test_an_item_is_given_away(store):
    published(store, ALICE, of_a("1.0.0"))
    view = store.seen_by(ALICE)
    given = view.releases.decide(entry_of(store, IN_A), Decision(owner="ada"), "")
    assert given.item.author == "ada"
    assert published(store, ALICE, of_a("1.1.0")) == ["refused"]
    assert published(store, ADA, of_a("1.1.0", author="ada")) == ["published"]
    with pytest.raises(NotAllowed):
        view.releases.decide(entry_of(store, IN_A), Decision(owner="alice"), "")
    shared = store.seen_by(ADA).releases.decide(given, Decision(owner=TEAM_A), "")
    assert shared.item.author == TEAM_A
    assert published(store, ALICE, of_a("1.2.0")) == ["published"]
    with pytest.raises(UsageError, match="nobody would see it"):
        view.releases.decide(shared, Decision(Visibility.PRIVATE), "")
    with pytest.raises(NotAllowed, match="give away what @a owns"):  # what all own, none takes
        view.releases.decide(shared, Decision(owner="alice"), "")
    hidden = Decision(Visibility.PRIVATE, "alice")
    admin = store.seen_by(Caller("anna", ("a",), Role.ADMIN))
    assert admin.releases.decide(shared, hidden, "").item.visibility is Visibility.PRIVATE
    assert store.seen_by(ANN).items.get(IN_A.id, "a") is None
    assert store.check() == []


# Reading.


def hits(store, caller):
    found = store.seen_by(caller).index.keyword(WordQuery(("zebra",), ("zebra",)), Filters(), 9)
    return {hit.id: hit.score for hit in found.hits}


def test_a_decision_counts_for_what_callers_find_and_how_it_is_weighed(store):
    """Also for those who have searched before."""
    publish(store, "1.0.0", namespace="a", description="A zebra.")
    post = release("1.0.0", name="post", namespace="a", description="A zebra, a zebra, of stripes.")
    others = [make_item(f"tool{n}", namespace="a", description="Nothing.") for n in range(3)]
    store.items.put(others, None)
    alone = hits(store, AMOS)
    assert list(alone) == [IN_A.id]
    store.releases.publish(post, None, "alice")
    both = hits(store, AMOS)
    assert set(both) == {IN_A.id, post.id}
    for hidden in (Visibility.UNLISTED, Visibility.PRIVATE):
        store.releases.decide(entry_of(store, post), Decision(hidden), "alice")
        assert set(hits(store, AMOS)) == set(alone)
        assert hidden is Visibility.UNLISTED or hits(store, AMOS) == alone  # which members see
        assert store.seen_by(AMOS).index.words_like([], ["pos"], 5).longer["pos"] == ["post"]
        store.releases.decide(entry_of(store, post), Decision(Visibility.PUBLIC), "alice")
        assert hits(store, AMOS) == both
    assert store.check() == []


def test_the_words_of_what_becomes_public_are_spelled_for_callers(store):
    item = of_a(name="giraffe", visibility=Visibility.UNLISTED)
    store.releases.publish(item, None, "alice")
    store.items.put([make_item("tool", namespace="a")], None)
    spelled = store.seen_by(AMOS).index
    assert spelled.words_like(variants("girafe"), [], 5).near == []
    store.releases.decide(entry_of(store, item), Decision(Visibility.PUBLIC), "alice")
    assert spelled.words_like(variants("girafe"), [], 5).near == ["giraffe"]


@pytest.mark.parametrize("visibility", Visibility)
@pytest.mark.parametrize("caller", [ANON, ALICE, BOB, CAROL, POSTMASTER])
def test_versions_and_files_are_for_those_who_may_have_the_item(store, caller, visibility):
    """In `public`, where what is not listed is had by its id."""
    publish(store, "1.0.0", "2.0.0", visibility=visibility, author="carol")
    view = store.seen_by(caller)
    may = visibility is not Visibility.PRIVATE or caller is CAROL
    assert numbers(view) == (["2.0.0", "1.0.0"] if may else [])
    assert kept(view, "1.0.0") == (version("1.0.0") if may else None)
    assert (view.items.get(SEND.id, "public") is not None) is may
    view.releases.count_download(SEND.id, "public", "1.0.0")
    assert line_of(store, "1.0.0").download_count == may
    assert entry_of(store, SEND).download_count == may


@pytest.mark.parametrize("caller", [ANON, AMOS, BOB])
def test_downloads_elsewhere_are_counted_for_members(store, caller):
    published(store, ALICE, of_a(visibility=Visibility.UNLISTED))
    store.seen_by(caller).releases.count_download(IN_A.id, "a", "1.0.0")
    assert entry_of(store, IN_A).download_count == (caller is AMOS)


# The audit log.


def test_admins_read_the_log_of_their_namespaces_and_the_owner_all_of_it(store):
    for place, (namespace, author) in enumerate((("a", "alice"), ("b", "bob"), ("public", "p"))):
        publish(store, f"1.{place}.0", namespace=namespace, author=author)
    publish(store, "2.0.0", namespace="a")
    store.releases.note(AuditLine(store.now(), "me", Action.TRUST, detail="nobody"))
    both = Caller("bea", ("a", "b"), Role.ADMIN)
    for caller, expected in (
        (ANN, [("a", "2.0.0"), ("a", "1.0.0")]),
        (both, [("a", "2.0.0"), ("b", "1.1.0"), ("a", "1.0.0")]),
        (POSTMASTER, [("public", "1.2.0")]),
        (
            ROOT,
            [("", ""), ("a", "2.0.0"), ("public", "1.2.0"), ("b", "1.1.0"), ("a", "1.0.0")],
        ),
    ):
        log = store.seen_by(caller).releases
        assert [(line.namespace, line.version) for line in log.audit()] == expected
        found = [(line.namespace, line.version) for line in log.audit(SEND.id, limit=2)]
        assert found == [each for each in expected if each[0]][:2]
    log = store.seen_by(both).releases
    assert [line.version for line in log.audit(namespace="b")] == ["1.1.0"]
    assert log.audit(namespace="public") == log.audit(action=Action.YANK) == []
    assert log.audit(limit=0) == []


@pytest.mark.parametrize("caller", [ANON, ALICE, AMOS, CAROL])
def test_nobody_else_reads_it_and_no_caller_writes_it(store, caller):
    log = store.seen_by(caller).releases
    with pytest.raises(NotAllowed, match="not yours to read"):
        log.audit(namespace="a")
    for view in (log, store.seen_by(ANN).releases):
        with pytest.raises(NotAllowed):
            view.note(AuditLine(1.0, "ann", Action.TRUST))
    assert store.releases.audit() == []


def test_a_view_refuses_what_the_board_would(store):
    told = store.seen_by(ALICE).releases.publish(of_a("1.0.0+x"), None, "")
    assert (told.state, told.refused.code) == ("refused", "bad_version")
    assert published(store, ALICE, of_a(), of_a()) == ["published", "unchanged"]
    assert store.seen_by(ALICE).releases.publish(of_a(), None, "") == Published(
        "unchanged", "1.0.0"
    )
