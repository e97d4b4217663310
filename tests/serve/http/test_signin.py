"""Who asks, by tokens of the board and from this machine."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from signin_parts import Clock, serving

from pegboard.board.trust.tokens import BoardTokens
from pegboard.config.settings import ServeSettings
from pegboard.errors import BoardBusy, BoardReadOnly
from pegboard.model.calls import Role
from pegboard.serve.http.failures import (
    A_SECOND,
    MOST_ADDRESSES,
    MOST_AT_ONCE,
    MOST_COUNTED,
    Failures,
)
from pegboard.serve.http.signin import CHECKED_SECONDS, NOTED_SECONDS
from pegboard.store.sqlite.store import SqliteStore
from waiting import until

WRONG = f"pegb_{'0' * 12}_{'A' * 43}"


@pytest.fixture(scope="module")
def board_file(tmp_path_factory):
    return tmp_path_factory.mktemp("signin") / "board.db"


@pytest.fixture(scope="module")
def shared(board_file):
    """For tests that leave no failures and no tokens behind that another would stumble on."""
    store = SqliteStore(board_file, create=True)
    with serving(store) as served:
        yield served
    store.close()


@pytest.fixture(autouse=True)
def nobody_has_failed(request):
    yield
    if "shared" in request.fixturenames:
        request.getfixturevalue("shared").sign_in.failures._counts.clear()


@pytest.fixture
def open_here(sqlite_store):
    """Programs of this machine are let in without a token."""
    with serving(sqlite_store, ServeSettings(loopback="admin")) as served:
        yield served


def new_token(served, role=Role.READER, **more):
    return BoardTokens(served.board.store).make(role, **more)


# Tokens.


@pytest.mark.parametrize("role", Role)
def test_a_token_says_who_asks(shared, role):
    made = new_token(shared, role, namespaces=["team-a", "b"])
    answer = shared.get(token=made.text)
    assert answer.status_code == 200
    assert answer.json() == {
        "subject": made.token.name,
        "namespaces": ["team-a", "b"],
        "role": role.value,
    }


def test_the_name_of_the_scheme_is_written_as_one_likes(shared):
    made = new_token(shared)
    for scheme in ("bearer", "BEARER", "Bearer "):
        assert shared.get(Authorization=f"{scheme} {made.text}").status_code == 200


def test_without_a_token_nobody_is_let_in_and_is_told_how(shared):
    answer = shared.get()
    assert answer.status_code == 401
    assert answer.json()["code"] == "not_signed_in"
    assert "pegboard token new" in answer.json()["hint"]
    said = answer.headers["www-authenticate"]
    assert said.startswith("Bearer ")
    assert "error=" not in said  # nothing was brought that could be wrong
    assert f'resource_metadata="{shared.base}/.well-known/oauth-protected-resource"' in said


def test_a_token_that_is_not_good_is_told_as_such(shared):
    answer = shared.get(token=WRONG)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "0" * 12 not in answer.text


HEADERS = {
    "nothing": b"",
    "no token": b"Bearer",
    "only space": b"Bearer   ",
    "two tokens": f"Bearer {WRONG} {WRONG}".encode(),
    "two in one header": f"Bearer {WRONG}, Bearer {WRONG}".encode(),
    "another scheme": b"Basic YTpi",
    "no scheme": WRONG.encode(),
    "not ASCII": b"Bearer pegb_\xc3\xa9\xff",
    "a digit that is none": "Bearer pegb_٠".encode(),
    "a tab": f"Bearer\t{WRONG}".encode(),
    "quotes": f'Bearer "{WRONG}"'.encode(),
    "long": b"Bearer " + b"A" * 20_000,
    "long with dots": b"Bearer a.b." + b"A" * 20_000,
    "huge": b"Bearer " + b"A" * 200_000,
    "SQL": b"Bearer pegb_'or'1'='1",
}


@pytest.mark.parametrize("value", HEADERS.values(), ids=HEADERS.keys())
def test_no_other_header_lets_anybody_in(shared, value):
    host = f"Host: 127.0.0.1:{shared.port}".encode()
    status, answer = shared.raw(b"GET /who HTTP/1.1", host, b"Authorization: " + value)
    assert status in (0, 400, 401, 431)
    assert b"Traceback" not in answer


def test_two_headers_are_one_too_many_though_both_are_good(shared):
    made = new_token(shared)
    line = f"Authorization: Bearer {made.text}".encode()
    host = f"Host: 127.0.0.1:{shared.port}".encode()
    assert shared.raw(b"GET /who HTTP/1.1", host, line)[0] == 200
    assert shared.raw(b"GET /who HTTP/1.1", host, line, line)[0] == 401


def test_a_token_in_the_address_is_refused(shared):
    made = new_token(shared)
    for token in (made.text, None):
        answer = shared.get(f"/who?access_token={made.text}", token)
        assert answer.status_code == 400
        assert "logs" in answer.json()["detail"]
        assert made.text not in answer.text


def test_a_token_that_has_expired_is_not_good(shared, monkeypatch):
    made = new_token(shared, seconds=60)
    assert shared.get(token=made.text).status_code == 200
    later = time.time() + 61
    monkeypatch.setattr("pegboard.serve.http.signin.time.time", lambda: later)
    assert shared.get(token=made.text).status_code == 401


def test_a_revoked_token_is_not_good_after_a_moment(shared):
    made = new_token(shared)
    assert shared.get(token=made.text).status_code == 200
    BoardTokens(shared.board.store).revoke(made.token.id)
    shared.clock.now += CHECKED_SECONDS + 0.1
    assert shared.get(token=made.text).status_code == 401


def test_a_token_is_looked_up_once_in_a_moment(shared, monkeypatch):
    made, looked = new_token(shared), []
    tokens = shared.board.store.tokens
    found = tokens.find
    monkeypatch.setattr(tokens, "find", lambda token_id: looked.append(token_id) or found(token_id))
    for _ in range(5):
        assert shared.get(token=made.text).status_code == 200
    assert looked == [made.token.id]
    shared.clock.now += CHECKED_SECONDS + 0.1
    assert shared.get(token=made.text).status_code == 200
    assert looked == [made.token.id] * 2


def test_a_role_that_does_not_suffice_is_told_as_such(shared):
    made = new_token(shared, Role.AUTHOR)
    answer = shared.get("/admins", made.text)
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert "resource_metadata=" in answer.headers["www-authenticate"]
    assert shared.get("/admins", new_token(shared, Role.ADMIN).text).status_code == 200


def test_a_board_that_does_not_answer_is_no_fault_of_the_token(shared, monkeypatch):
    made = new_token(shared)

    def busy(token_id):
        raise BoardBusy

    monkeypatch.setattr(shared.board.store.tokens, "find", busy)
    assert shared.get(token=made.text).status_code == 503
    monkeypatch.undo()
    assert shared.get(token=made.text).status_code == 200
    assert len(shared.sign_in.failures) == 0


def test_many_at_once_are_each_told_who_they_are(shared):
    made = [new_token(shared) for _ in range(4)]

    def ask(number):
        token = WRONG if number % 10 == 9 else made[number % 4].text
        answer = shared.get(token=token)
        said = answer.json().get("subject")
        return answer.status_code, said, made[number % 4].token.name if token != WRONG else None

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(ask, range(160)))
    assert all(said == name for _, said, name in answers)
    assert [code for code, *_ in answers].count(200) == 144


# When a token was used.


def used_at(served, made):
    return served.board.store.tokens.find(made.token.id).token.used_at


def test_the_last_use_is_noted_once_in_an_hour(shared, monkeypatch):
    made, noted = new_token(shared), []
    assert used_at(shared, made) is None
    tokens = shared.board.store.tokens
    note = tokens.used
    monkeypatch.setattr(tokens, "used", lambda *said: noted.append(said) or note(*said))
    for _ in range(3):
        shared.get(token=made.text)
    until(lambda: used_at(shared, made) is not None)
    shared.clock.now += CHECKED_SECONDS + 0.1
    shared.get(token=made.text)
    assert len(noted) == 1
    first = used_at(shared, made)
    shared.clock.now += NOTED_SECONDS
    later = time.time() + NOTED_SECONDS + 1
    monkeypatch.setattr("pegboard.serve.http.signin.time.time", lambda: later)
    shared.get(token=made.text)
    until(lambda: used_at(shared, made) > first)


def test_a_board_that_cannot_be_written_lets_in_all_the_same(shared, monkeypatch):
    made, tried = new_token(shared), []

    def refuse(token_id, at):
        tried.append(token_id)
        raise BoardReadOnly

    monkeypatch.setattr(shared.board.store.tokens, "used", refuse)
    assert shared.get(token=made.text).status_code == 200
    until(lambda: tried)
    assert shared.get(token=made.text).status_code == 200


# From this machine.


def test_whoever_asks_from_this_machine_needs_no_token_if_the_settings_say_so(open_here):
    answer = open_here.get()
    assert answer.json() == {"subject": "local", "namespaces": [], "role": "admin"}


@pytest.mark.parametrize("token", [WRONG, "a.b.c", "x"])
def test_a_token_that_is_not_good_is_never_taken_for_none(open_here, token):
    assert open_here.get(token=token).status_code == 401
    assert open_here.get(Authorization="Basic YTpi").status_code == 401


PROXIES = {
    "X-Forwarded-For": "127.0.0.1",
    "Forwarded": "for=127.0.0.1",
    "X-Real-IP": "127.0.0.1",
    "X-Forwarded-Host": "x",
    "X-Forwarded-Proto": "http",
    "Via": "1.1 proxy",
    "x-FORWARDED-for": "8.8.8.8",
    "CF-Connecting-IP": "8.8.8.8",
}


@pytest.mark.parametrize("name", PROXIES)
def test_behind_a_proxy_of_this_machine_nobody_is_here(open_here, name):
    assert open_here.get().status_code == 200
    assert open_here.get(**{name: PROXIES[name]}).status_code == 401
    made = new_token(open_here)
    assert open_here.get(token=made.text, **{name: PROXIES[name]}).status_code == 200


# Whoever fails again and again.


def test_an_address_that_fails_again_and_again_has_to_wait(shared):
    made, other = new_token(shared), new_token(shared)
    assert shared.get(token=made.text).status_code == 200
    for _ in range(MOST_AT_ONCE):
        assert shared.get(token=WRONG).status_code == 401
    refused = shared.get(token=WRONG)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    assert shared.get(token=other.text).status_code == 429  # it was never seen to be good
    shared.clock.now += CHECKED_SECONDS + 1
    assert shared.get(token=made.text).status_code == 200  # and this one was, behind that address
    assert shared.get().status_code == 401  # to bring no token is no failure
    shared.clock.now += 10 / A_SECOND
    assert shared.get(token=other.text).status_code == 200


def test_failures_are_remembered_of_so_many_addresses_and_no_more():
    failures = Failures(Clock())
    for number in range(MOST_ADDRESSES + 500):
        failures.add(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(failures) == MOST_ADDRESSES


def test_addresses_of_one_network_of_ipv6_count_as_one():
    failures = Failures(Clock())
    for number in range(MOST_AT_ONCE):
        failures.add(f"2001:db8::{number:x}")
    assert failures.too_many("2001:db8::ffff:ffff")
    assert not failures.too_many("2001:db8:0:1::1")
    failures.add("::ffff:192.0.2.1")
    failures.add("192.0.2.1")
    assert len(failures) == 2


def test_failures_one_after_another_are_too_many_though_some_are_forgotten_meanwhile():
    clock = Clock()
    failures = Failures(clock)
    for _ in range(2 * MOST_AT_ONCE):
        clock.now += 0.01
        if failures.too_many("192.0.2.1"):
            break
        failures.add("192.0.2.1")
    assert failures.too_many("192.0.2.1")


def test_failures_are_forgotten_with_time():
    clock = Clock()
    failures = Failures(clock)
    for _ in range(10 * MOST_AT_ONCE):
        failures.add("192.0.2.1")
    assert failures.too_many("192.0.2.1")
    clock.now += (MOST_COUNTED - MOST_AT_ONCE) / A_SECOND + 0.1
    assert not failures.too_many("192.0.2.1")
    for _ in range(2):
        failures.add("192.0.2.1")
    assert failures.too_many("192.0.2.1")
    clock.now += 1e6
    assert failures._present("192.0.2.1") == 0.0
