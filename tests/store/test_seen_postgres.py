"""What the login of a gateway needs on PostgreSQL to act for others."""

import secrets

import psycopg
import pytest
from psycopg import sql
from seen_parts import ALICE, ANN, ANON, BOB, PEGS, SETTINGS, fill, sees

from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of
from pegboard.errors import BoardPartlyHidden, NotAllowed
from pegboard.store.postgres.store import PostgresStore
from postgres_server import fresh

GRANTS = (
    "GRANT service_role TO {}",
    "GRANT anon, authenticated TO {} WITH INHERIT FALSE",
)


@pytest.fixture(scope="module")
def url(postgres_server):
    with fresh(postgres_server, postgres_server.template) as made:
        store = PostgresStore(made)
        fill(store, PEGS, ("a", "b", "public"))
        store.close()
        yield made


@pytest.fixture
def gateway(postgres_server, url):
    """Makes stores of new logins that have been granted this."""
    made = []
    with psycopg.connect(url, autocommit=True) as owner:
        database = owner.info.dbname

        def make(*grants):
            name, password = f"gateway_{secrets.token_hex(4)}", secrets.token_hex(8)
            role = sql.Identifier(name)
            owner.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(password))
            )
            for grant in grants:
                owner.execute(sql.SQL(grant).format(role))
            address = f"{postgres_server.address(database, name)}&password={password}"
            made.append((role, PostgresStore(address)))
            return name, made[-1][1]

        yield make
        for role, store in made:
            store.close()
            owner.execute(sql.SQL("DROP ROLE {}").format(role))


@pytest.mark.parametrize(
    "grants", [GRANTS[:1], ("GRANT authenticated TO {}",), (GRANTS[1], "GRANT anon TO {}")]
)
def test_a_login_that_cannot_act_for_others_is_told_what_it_needs(gateway, grants):
    if "service_role" not in grants[0]:
        grants = (*grants, "GRANT authenticated TO {} WITH INHERIT TRUE")
    name, store = gateway(*grants)
    with pytest.raises(BoardPartlyHidden) as caught:
        store.seen_by(ALICE)
    assert caught.value.hint == (
        f'let an administrator run: GRANT service_role TO "{name}"; '
        f'GRANT anon, authenticated TO "{name}" WITH INHERIT FALSE'
    )


def test_a_gateway_acts_for_each_with_his_rights_and_for_admins_with_its_own(gateway):
    _, store = gateway(*GRANTS)
    board = Pegboard(store, SETTINGS)
    for caller in (ALICE, BOB, ANON, ANN):
        seen = {(e.item.namespace, e.item.id) for e in store.seen_by(caller).items.page(0, 100)}
        tools = {(peg.namespace, peg.id) for peg in PEGS if sees(caller, peg)}
        assert {each for each in seen if each[1].startswith("tool")} == tools
    manifest = {"tool_id": "stamp", "tool_type": "python", "category": "post", "description": "It."}
    made = board.seen_by(ALICE).create(draft_of(manifest, {"main.py": "def run(): ..."}))
    assert (made.state, made.entry.item.author) == ("created", "alice")
    assert board.seen_by(ANN).curate.deactivate(made.id, "ann").off_by == "ann"
    with pytest.raises(NotAllowed):
        board.seen_by(BOB).curate.deactivate("send_letter", "bob")


def test_a_store_that_has_a_caller_gives_no_views(url):
    store = PostgresStore(url, caller=ALICE)
    with pytest.raises(NotAllowed):
        store.seen_by(BOB)
    store.close()
