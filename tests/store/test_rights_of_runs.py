"""Who sees runs on a board with several tenants, and who may say that there was one."""

import secrets
import time
from contextlib import closing

import psycopg
import pytest
from psycopg import errors, sql
from rights_parts import ALICE, AMOS, ANON, BOB, CAROL, HUNG, PEOPLE, acting, seen_by

from making import by_hand, make_item
from pegboard.errors import BoardReadOnly
from pegboard.model.calls import Outcome
from pegboard.model.runs import KEPT_SECONDS, Run, RunCounts
from pegboard.store.postgres.store import PostgresStore
from postgres_server import fresh


@pytest.fixture
def owner(tenants):
    with psycopg.connect(tenants, autocommit=True) as connection:
        yield connection


def runs_seen(connection):
    rows = connection.execute("SELECT item_id, who FROM item_runs WHERE item_id LIKE 'tool:%'")
    return {(item_id.removeprefix("tool:mail:"), who) for item_id, who in rows}


@pytest.mark.parametrize("name", PEOPLE)
def test_members_see_all_runs_of_what_they_see_and_others_only_their_own(owner, name):
    person = PEOPLE[name]
    with acting(owner, person):
        found = runs_seen(owner)
    assert found == {
        (each.name, who)
        for each in HUNG
        for who in ("alice", "bob", "cli")
        if person.subject
        and each.name in seen_by(person)
        and (each.namespace in person.namespaces or who == person.subject)
    }


def test_runs_of_what_was_removed_are_for_the_owner(owner):
    gone = "tool:mail:zqalphaopenx"
    with owner.transaction(force_rollback=True):
        owner.execute("DELETE FROM items WHERE id = %s", [gone])
        owner.execute("INSERT INTO items (namespace, id, author) VALUES ('a', %s, 'alice')", [gone])
        kept = owner.execute("SELECT 1 FROM item_runs WHERE item_id = %s", [gone]).fetchall()
        assert len(kept) == 3
        with acting(owner, ALICE):
            assert "zqalphaopenx" not in {name for name, _ in runs_seen(owner)}


RECORD = (
    "INSERT INTO item_runs (namespace, uid, item_key, item_id, version, at, outcome, seconds, who)"
    " SELECT {namespace}, gen_random_uuid(), key, id, {version}, {at}, {outcome}, {seconds}, {who}"
    " FROM known WHERE id = 'tool:mail:{item}'"
)
RIGHT = {
    "namespace": "namespace",
    "version": "'1.0.0'",
    "at": "now()",
    "outcome": "'ok'",
    "seconds": "1",
    "who": "'alice'",
    "item": "zqalphaopenx",
}


@pytest.fixture
def known(owner):
    """The numbers of all items, as if the caller had come to know them."""
    owner.execute("CREATE TEMP TABLE known AS SELECT namespace, key, id FROM items")
    owner.execute("GRANT SELECT ON known TO anon, authenticated")
    return owner


def recorded(connection, caller, **said):
    with acting(connection, caller):
        return connection.execute(sql.SQL(RECORD.format(**(RIGHT | said)))).rowcount


@pytest.mark.parametrize("item", ["zqalphaopenx", "zqalphaprivatex", "zqamosopenx", "zqpubopenx"])
def test_a_caller_records_runs_of_what_he_sees(known, item):
    assert recorded(known, ALICE, item=item) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"item": "zqamosprivatex"},
        {"item": "zqbravoopenx"},
        {"item": "zqbravoprivatex"},
        {"item": "zqpubunlistedx"},
        {"item": "zqbravoopenx", "namespace": "'a'"},
        {"item": "zqalphaopenx", "namespace": "'public'"},
        {"who": "'amos'"},
        {"who": "'cli'"},
        {"who": "''"},
        {"at": "'infinity'"},
        {"at": "'-infinity'"},
        {"at": "now() + interval '1 day'"},
        {"version": "repeat('x', 201)"},
    ],
    ids=str,
)
def test_nobody_records_what_he_does_not_see_or_in_anothers_name(known, said):
    with pytest.raises(errors.InsufficientPrivilege):
        recorded(known, ALICE, **said)


@pytest.mark.parametrize(
    "said",
    [{"outcome": "'great'"}, {"seconds": "'NaN'"}, {"seconds": "'infinity'"}, {"seconds": "-1"}],
    ids=str,
)
def test_nobody_records_what_could_not_be_read(known, said):
    with pytest.raises((errors.CheckViolation, errors.InsufficientPrivilege)):
        recorded(known, ALICE, **said)


@pytest.mark.parametrize("statement", ["DELETE FROM item_runs", "UPDATE item_runs SET seconds = 0"])
@pytest.mark.parametrize("caller", [ANON, ALICE])
def test_callers_change_and_remove_no_run(owner, caller, statement):
    with pytest.raises(errors.InsufficientPrivilege), acting(owner, caller):
        owner.execute(statement)


def test_a_refusal_to_record_is_the_same_whether_there_is_such_an_item_or_not(known):
    said = []
    for key in ("(SELECT min(key) FROM known WHERE namespace = 'b')", "123456789"):
        statement = RECORD.format(**(RIGHT | {"namespace": "'b'"})).replace("key, id", f"{key}, id")
        with pytest.raises(errors.InsufficientPrivilege) as told, acting(known, ALICE):
            known.execute(sql.SQL(statement))
        said.append(str(told.value))
    assert said[0] == said[1]


def test_what_is_forgotten_on_behalf_of_a_caller_is_old_and_nothing_else(owner):
    with owner.transaction(force_rollback=True):
        owner.execute("UPDATE item_runs SET at = now() - interval '91 days' WHERE namespace = 'b'")
        count = "SELECT count(*) FILTER (WHERE namespace = 'b'), count(*) FROM item_runs"
        [(old, every)] = owner.execute(count).fetchall()
        with owner.transaction():
            owner.execute("SET LOCAL ROLE authenticated")
            owner.execute("SELECT forget_old_runs()")
            owner.execute("RESET ROLE")
        assert owner.execute(count).fetchall() == [(old - 10, every - 10)]
    with pytest.raises(errors.InsufficientPrivilege), acting(owner, ANON):
        owner.execute("SELECT forget_old_runs()")


@pytest.fixture
def stores(postgres_server):
    """A board with something in each namespace, and stores of the callers."""
    made = []
    with fresh(postgres_server, postgres_server.template) as url:

        def of(caller):
            made.append(PostgresStore(url, caller=caller))
            return made[-1]

        service = of(None)
        service.items.put([OPEN, *OF_TEAMS], None)
        yield of
        for each in made:
            each.close()


OPEN = make_item("open")
OF_TEAMS = [make_item("ours", namespace=name, author=name, source="") for name in "ab"]
START = time.time()
OLD = KEPT_SECONDS + 86_400.0


def run_of(item):
    return Run(item.namespace, item.id, "1.0.0", START, Outcome.OK, 1.0, "cli")


def test_a_store_with_a_caller_records_in_his_name_and_shows_what_he_may_see(stores):
    alice, bob, service = stores(ALICE), stores(BOB), stores(None)
    for store in (alice, bob):
        for item in (OPEN, *OF_TEAMS):
            store.runs.record(run_of(item))
    service.runs.record(run_of(OPEN))

    def seen(store):
        return {(run.namespace, run.caller) for run in store.runs.recent()}

    assert seen(alice) == {("public", "alice"), ("a", "alice")}
    assert seen(bob) == {("public", "bob"), ("b", "bob")}
    assert seen(stores(AMOS)) == {("a", "alice")}
    assert seen(stores(CAROL)) == seen(stores(ANON)) == set()
    assert seen(service) == {*seen(alice), *seen(bob), ("public", "cli")}
    assert alice.runs.counts().runs == 2
    assert service.runs.counts(OPEN.id).runs == 3
    assert stores(ANON).runs.counts(OPEN.id) == RunCounts()


def test_a_caller_without_a_name_records_nothing_and_is_told_so(stores):
    with pytest.raises(BoardReadOnly):
        stores(ANON).runs.record(run_of(OPEN))
    with pytest.raises(BoardReadOnly):
        stores(ALICE).runs.prune(START)


def test_old_runs_go_also_where_only_callers_record(stores):
    service = stores(None)
    bob, alice = stores(BOB), stores(ALICE)
    for _ in range(15):
        bob.runs.record(run_of(OF_TEAMS[1]))
    by_hand(service, "UPDATE item_runs SET at = at - :kept * interval '1 second'", kept=OLD)
    for _ in range(2):
        alice.runs.record(run_of(OPEN))
    assert [run.caller for run in service.runs.recent()] == ["alice", "alice"]


def test_a_login_of_a_tenant_records_as_whoever_the_board_says_it_is(stores, postgres_server):
    service = stores(None)
    name, password = f"login_{secrets.token_hex(4)}", secrets.token_hex(8)
    named = sql.Identifier(name)
    with psycopg.connect(service.database.url, autocommit=True) as owner:
        make = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        owner.execute(make.format(named, sql.Literal(password)))
        owner.execute(sql.SQL("GRANT authenticated TO {}").format(named))
        owner.execute("INSERT INTO logins VALUES (%s, 'alice', '{a}')", [name])
        address = f"{postgres_server.address(owner.info.dbname, name)}&password={password}"
        with closing(PostgresStore(address)) as store:
            store.runs.record(run_of(OPEN))
            store.runs.record(run_of(OF_TEAMS[1]))  # which it cannot see
        owner.execute(sql.SQL("DROP ROLE {}").format(named))
    assert [(run.id, run.caller) for run in service.runs.recent()] == [(OPEN.id, "alice")]
