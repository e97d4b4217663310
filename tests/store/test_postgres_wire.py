"""Lists and JSON arrive in PostgreSQL as they were sent, and come back so."""

import json
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from making import make_item
from pegboard.errors import BoardError
from pegboard.store.postgres.store import PostgresStore

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
SAME_SERVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@SAME_SERVER
@given(st.lists(TEXTS | st.none()))
def test_texts_arrive_as_they_are(postgres_store, sent):
    assert postgres_store.database.rows("SELECT %(sent)s::text[]", {"sent": sent}) == [(sent,)]


@SAME_SERVER
@given(
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(st.floats(allow_nan=False)),
    st.lists(st.booleans()),
    st.lists(st.binary()),
)
def test_numbers_truths_and_bytes_arrive_as_they_are(postgres_store, whole, real, true, raw):
    [row] = postgres_store.database.rows(
        "SELECT %(whole)s::bigint[], %(real)s::float8[], %(true)s::boolean[], %(raw)s::bytea[]",
        {"whole": whole, "real": real, "true": true, "raw": raw},
    )
    assert row == (whole, real, true, raw)


@pytest.mark.parametrize("sent", [["a\0b"], [object()]])
def test_what_the_database_cannot_hold_is_not_cut_short(postgres_store, sent):
    with pytest.raises(BoardError, match=r"NUL|object"):
        postgres_store.database.rows("SELECT %(sent)s::text[]", {"sent": sent})


@pytest.mark.parametrize("sent", ["{}", "null", "[]", '{"é": [1, {"a": null}]}', "{ }"])
def test_json_comes_back_as_it_is(postgres_store, sent):
    [(found,)] = postgres_store.database.rows("SELECT %(sent)s::json", {"sent": sent})
    assert found == json.loads(sent)


def test_times_are_read_whatever_the_server_writes_them_like(postgres_store):
    url = make_conninfo(postgres_store.database.url, options="-c datestyle=German")
    with closing(PostgresStore(url)) as store:
        store.items.put([make_item("one")], None)
        [entry] = store.items.page(0, 10)
        assert entry.created_at == pytest.approx(store.now(), abs=600)
