"""Releases on PostgreSQL by those whom its policies bind, through Pegboard and in plain SQL."""

import psycopg
import pytest
from psycopg import errors
from release_parts import KEY, hanging, kept, line_of, numbers, publish, release, version, yank
from rights_parts import ALICE, AMOS, ANON, BOB, CAROL, acting

from making import entry_of, make_item
from pegboard.errors import BoardError, ChangedMeanwhile
from pegboard.model.content import Link
from pegboard.model.items import Visibility
from pegboard.model.releases import Action, AuditLine, Decision, Published
from pegboard.store.postgres.store import PostgresStore

OURS = release("1.0.0", namespace="a")


@pytest.fixture
def tenant(postgres_url):
    made = []

    def of(caller):
        made.append(PostgresStore(postgres_url, caller=caller))
        return made[-1]

    yield of
    for each in made:
        each.close()


@pytest.fixture
def owner(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def board(postgres_store):
    """With two releases of Alice in `a`."""
    publish(postgres_store, "1.0.0", "1.1.0", namespace="a")
    return postgres_store


# Through Pegboard.


def test_a_tenant_publishes_and_takes_back_what_is_his_in_no_other_name(tenant, postgres_store):
    alice = tenant(ALICE)
    for number in ("1.0.0", "1.1.0", "0.9.0"):
        item = release(number, namespace="a", links=(Link("uses", "x", "^1"),))
        assert alice.releases.publish(item, None, "amos").state == "published"
    again = alice.releases.publish(release("1.0.0", namespace="a"), None, "amos")
    assert again == Published("unchanged", "1.1.0")
    entry = entry_of(alice, OURS)
    assert yank(alice, "1.1.0", "1.0.0", entry=entry, by="amos")
    assert yank(alice, "1.0.0", "0.9.0", entry=entry, by="amos")
    assert yank(alice, "0.9.0", None, entry=entry, by="amos")
    assert yank(alice, "1.0.0", "1.0.0", entry=entry, yanked=False, by="amos", reason="good")
    decision = Decision(Visibility.UNLISTED, deprecated=True, replacement="post")
    assert alice.releases.decide(entry, decision, "amos")
    assert (numbers(alice, OURS), hanging(alice, OURS)) == (["1.1.0", "1.0.0", "0.9.0"], "1.0.0")
    assert line_of(alice, "1.1.0", OURS).published_by == "alice"
    assert line_of(alice, "1.1.0", OURS).yanked_by == "alice"
    assert alice.check() == postgres_store.check() == []
    lines = postgres_store.releases.audit()
    assert {line.who for line in lines} == {"alice"}
    assert [(line.action.value, line.version, line.detail) for line in reversed(lines)] == [
        *(("publish", number, "") for number in ("1.0.0", "1.1.0", "0.9.0")),
        *(("yank", number, "it fails") for number in ("1.1.0", "1.0.0", "0.9.0")),
        ("unyank", "1.0.0", "good"),
        ("visibility", "", "public to unlisted"),
        ("deprecate", "", "use post"),
    ]
    assert alice.curation.remove(entry_of(alice, OURS), "amos")
    assert postgres_store.releases.audit()[0][1:4] == ("alice", Action.REMOVE, "a")


@pytest.mark.parametrize("caller", [AMOS, BOB, CAROL, ANON])
def test_a_tenant_does_not_publish_what_is_anothers(board, tenant, caller):
    other = tenant(caller)
    for item in (
        release("2.0.0", namespace="a"),
        release("2.0.0", namespace="a", author=caller.subject),
        release("2.0.0", namespace="a", author="@a"),
        release("1.0.0", name="new", namespace="a", author="alice"),
    ):
        with pytest.raises(BoardError):
            other.releases.publish(item, None, "alice")
    assert numbers(board, OURS) == ["1.1.0", "1.0.0"]
    assert len(board.releases.audit()) == 2
    assert board.check() == []


@pytest.mark.parametrize("caller", [AMOS, BOB, CAROL, ANON])
def test_a_tenant_decides_nothing_about_what_is_anothers(board, tenant, caller):
    entry = entry_of(board, OURS)
    other = tenant(caller)
    before = entry, board.items.versions(OURS.id, "a")
    refused = (BoardError, ChangedMeanwhile)  # what he may not change is gone for him
    with pytest.raises(refused):
        yank(other, "1.1.0", "1.0.0", entry=entry)
    if caller is ANON:
        with pytest.raises(refused):
            other.releases.decide(entry, Decision(deprecated=True), "alice")
    else:
        assert other.releases.decide(entry, Decision(deprecated=True), "alice") is None
    with pytest.raises(BoardError):
        other.releases.note(AuditLine(1.0, "alice", Action.TRUST))
    with pytest.raises(BoardError):
        other.releases.audit()
    assert (entry_of(board, OURS), board.items.versions(OURS.id, "a")) == before
    assert len(board.releases.audit()) == 2


def test_an_item_is_not_given_away_in_plain_rights(board, tenant):
    alice = tenant(ALICE)
    for new in ("amos", "@a"):
        with pytest.raises(BoardError):
            alice.releases.decide(entry_of(alice, OURS), Decision(owner=new), "")
    assert entry_of(board, OURS).item.author == "alice"


def test_a_tenant_says_of_no_signature_that_it_is_trusted(tenant):
    sure = release("1.0.0", namespace="a", signature=KEY._replace(state="trusted"))
    with pytest.raises(BoardError):
        tenant(ALICE).releases.publish(sure, None, "")


def test_downloads_are_counted_of_what_a_tenant_can_have(board, tenant):
    publish(board, "1.0.0", visibility=Visibility.UNLISTED, author="carol")
    publish(board, "1.0.0", name="hidden", visibility=Visibility.PRIVATE, author="carol")
    hidden = release("1.0.0", name="hidden")
    for caller in (ALICE, BOB):
        for namespace, item_id in (("a", OURS.id), ("public", OURS.id), ("public", hidden.id)):
            tenant(caller).releases.count_download(item_id, namespace, "1.0.0")
    assert entry_of(board, OURS).download_count == 1
    assert line_of(board, "1.0.0", OURS).download_count == 1
    assert entry_of(board, release("1.0.0")).download_count == 2
    assert entry_of(board, hidden).download_count == 0


# In plain SQL.

ADD = (
    "INSERT INTO item_versions (namespace, item_key, version, manifest, content_hash, {})"
    " SELECT namespace, key, '3.0.0', '{{}}', 'h', {} FROM items"
)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE items SET download_count = 1000",
        "UPDATE item_versions SET download_count = 1000",
        "UPDATE item_versions SET content_hash = 'x'",
        "UPDATE item_versions SET release = 'x'",
        "UPDATE item_versions SET published_by = 'amos'",
        "UPDATE item_versions SET yanked_at = now(), yanked_by = 'amos'",
        "UPDATE item_versions SET yanked_at = now()",
        "UPDATE item_versions SET yank_reason = 'x'",
        "UPDATE item_versions SET yanked_at = 'infinity', yanked_by = 'alice'",
        "UPDATE item_versions SET yanked_at = now(), yanked_by = 'alice', yank_reason ="
        " repeat('x', 3000)",
        ADD.format("published_by", "'amos'"),
        ADD.format("published_by", "''"),
        ADD.format("release", "'a record'"),
        ADD.format("download_count", "5"),
        ADD.format("created_at", "now()"),
        ADD.format("yanked_at", "now()"),
        "INSERT INTO version_files (version_key, namespace, path, media_type, sha256, size_bytes)"
        " SELECT key, namespace, 'more.py', '', 'h', 0 FROM item_versions",
        "UPDATE version_files SET path = 'other.py'",
        "INSERT INTO audit_log (who, action) VALUES ('alice', 'publish')",
        "SELECT * FROM audit_log",
        "UPDATE audit_log SET who = 'x'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "SELECT audit_who()",
        "SELECT nextval('audit_log_key_seq')",
        'UPDATE items SET links = \'[{"relation": "a", "target": "b", "other": "c"}]\'',
        'UPDATE items SET links = \'[{"relation": "a", "range": "^1"}]\'',
        'UPDATE items SET links = \'[{"relation": "a", "target": "b", "range": 1}]\'',
    ],
)
def test_an_author_cannot_write_what_he_may_not_in_sql_either(board, owner, statement):
    with acting(owner, ALICE), pytest.raises((errors.InsufficientPrivilege, errors.CheckViolation)):
        owner.execute(statement)
    assert len(board.releases.audit()) == 2


@pytest.mark.parametrize("table", ["item_versions", "version_files"])
@pytest.mark.parametrize("caller", [ALICE, AMOS, BOB])
def test_what_was_published_cannot_be_removed_but_with_its_item(board, owner, table, caller):
    with acting(owner, caller):
        assert owner.execute(f"DELETE FROM {table}").rowcount == 0
        removed = owner.execute("DELETE FROM items").rowcount
        assert removed == (caller is ALICE)
    assert kept(board, "1.0.0", OURS) == version("1.0.0")


@pytest.mark.parametrize("caller", [AMOS, BOB, CAROL])
def test_nobody_takes_back_anothers_version_in_sql(board, owner, caller):
    with acting(owner, caller):
        back = "UPDATE item_versions SET yanked_at = now(), yanked_by = %s"
        assert owner.execute(back, [caller.subject]).rowcount == 0


def test_a_version_cannot_be_published_for_an_item_that_is_not(owner, postgres_store):
    item = make_item("send", source="", namespace="a", author="alice")
    postgres_store.items.put([item], None)
    with acting(owner, ALICE), pytest.raises(errors.InsufficientPrivilege):
        owner.execute(ADD.format("published_by", "'alice'"))


def test_what_an_author_does_in_sql_is_in_the_log_in_his_name(board, owner):
    """Whatever he says of himself."""
    log = "SELECT who, action, version, detail FROM audit_log ORDER BY key DESC LIMIT 1"
    for statement, line in (
        (ADD.format("published_by", "'alice'"), ("alice", "publish", "3.0.0", "")),
        (
            "UPDATE item_versions SET yanked_at = now(), yanked_by = 'alice', yank_reason = 'bad'"
            " WHERE version = '1.0.0'",
            ("alice", "yank", "1.0.0", "bad"),
        ),
        (
            "UPDATE items SET visibility = 'private'",
            ("alice", "visibility", "", "public to private"),
        ),
        ("DELETE FROM items", ("alice", "remove", "", "")),
    ):
        with acting(owner, ALICE):
            owner.execute("SET LOCAL pegboard.by = 'amos'")
            assert owner.execute(statement).rowcount == 1
            owner.execute("RESET ROLE")
            assert owner.execute(log).fetchone() == line


def test_nobody_without_a_name_counts_downloads(board, owner):
    count = "SELECT count_download('a', 'mcptools:mail:send', '1.0.0')"
    with acting(owner, ANON), pytest.raises(errors.InsufficientPrivilege):
        owner.execute(count)
    with acting(owner, BOB):
        owner.execute(count)
        owner.execute("RESET ROLE")
        assert owner.execute("SELECT sum(download_count) FROM items").fetchone() == (0,)


def test_links_may_say_which_versions_will_do(board, tenant):
    alice = tenant(ALICE)
    item = make_item("post", source="", namespace="a", author="alice")
    linked = item._replace(links=(Link("uses", "x", ">=1 <2"), Link("uses", "y")))
    assert alice.items.put([linked], None).added == 1
    assert entry_of(alice, linked).item == linked
