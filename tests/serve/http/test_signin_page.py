"""Signing in on the page: a cookie for a token, or for a link that was printed."""

import re
import time

import pytest
from signin_parts import Issuer, make_signer, serving

from pegboard.board.trust.tokens import BoardTokens
from pegboard.config.settings import ServeSettings
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.access import LARGEST_FORM, safe_next, sign_in_link
from pegboard.serve.http.sessions import (
    CODE_SECONDS,
    MOST_OF_ONE,
    MOST_SESSIONS,
    SESSION_SECONDS,
    Sessions,
)
from pegboard.serve.http.signin import CHECKED_SECONDS
from pegboard.store.sqlite.store import SqliteStore

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    store = SqliteStore(tmp_path_factory.mktemp("page") / "board.db", create=True)
    with serving(store) as made:
        yield made
    store.close()


@pytest.fixture(autouse=True)
def another_browser(served):
    yield
    served.http.cookies.clear()
    served.sign_in.failures._counts.clear()


def enter(served, token, *, content_type=FORM, **fields):
    return served.http.post(
        f"{served.base}/ui/sign-in",
        content="&".join(f"{name}={value}" for name, value in {"token": token, **fields}.items()),
        headers={"Content-Type": content_type, "Origin": served.base},
    )


def cookie_of(answer):
    return answer.headers.get("set-cookie", "")


# By a token.


def test_whoever_signs_in_is_known_by_a_cookie_from_then_on(served):
    made = BoardTokens(served.board.store).make(Role.AUTHOR, namespaces=["a"])
    assert served.get().status_code == 401
    answer = enter(served, made.text)
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/")
    assert served.get().json()["subject"] == made.token.name
    assert served.get().json()["role"] == "author"


def test_the_cookie_is_for_this_site_alone_and_is_not_the_token(served):
    made = BoardTokens(served.board.store).make(Role.READER)
    said = cookie_of(enter(served, made.text))
    value = re.match(rf"pegboard_session_{served.port}=([\w-]{{43}});", said)[1]
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert "Path=/" in said
    assert "Domain" not in said
    assert "Secure" not in said  # by plain http on this machine
    secret = made.text.rpartition("_")[2]
    assert secret not in said
    assert value not in repr(served.sign_in.sessions._open)  # nor does the process have it


def test_by_https_the_cookie_is_only_for_https(sqlite_store):
    settings = ServeSettings(public_url="https://tools.example.com")
    with serving(sqlite_store, settings) as served:
        made = BoardTokens(sqlite_store).make(Role.READER)
        answer = served.http.post(
            f"{served.base}/ui/sign-in",
            content=f"token={made.text}",
            headers={
                "Content-Type": FORM,
                "Host": "tools.example.com",
                "Origin": "https://tools.example.com",
            },
        )
        assert answer.status_code == 303
        said = cookie_of(answer)
        assert said.startswith("__Host-pegboard_session=")
        assert "Secure" in said
        cookie = said.partition(";")[0]
        assert served.get(Host="tools.example.com", Cookie=cookie).status_code == 200
        assert served.get(Cookie=cookie).status_code == 401  # not by plain http


@pytest.mark.parametrize("token", ["", "x", f"pegb_{'0' * 12}_{'A' * 43}", "%00%ff", "a.b.c"])
def test_a_token_that_is_not_good_opens_nothing_and_the_form_comes_again(served, token):
    answer = enter(served, token)
    assert answer.status_code == 401
    assert cookie_of(answer) == ""
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert 'method="post" action="/ui/sign-in?next=%2Fui%2F"' in answer.text
    assert served.get().status_code == 401


def test_whoever_fails_again_and_again_has_to_wait_here_too(served):
    codes = [enter(served, f"pegb_{'0' * 12}_{'A' * 43}").status_code for _ in range(35)]
    assert set(codes) == {401, 429}
    assert codes.index(429) == 30


def test_a_form_of_another_site_signs_nobody_in(served):
    """Else somebody could be made to work under the name of a stranger."""
    made = BoardTokens(served.board.store).make(Role.READER)
    answer = served.http.post(
        f"{served.base}/ui/sign-in",
        content=f"token={made.text}",
        headers={"Content-Type": FORM, "Origin": "https://evil.example.com"},
    )
    assert answer.status_code == 403
    assert cookie_of(answer) == ""


def test_what_is_no_form_is_refused(served):
    made = BoardTokens(served.board.store).make(Role.READER)
    assert enter(served, made.text, content_type="application/json").status_code == 400
    assert enter(served, made.text, content_type="").status_code == 400
    assert enter(served, "x" * LARGEST_FORM).status_code == 413
    assert enter(served, "x&" * 50).status_code == 400
    assert enter(served, "\u00e9").status_code == 400
    assert served.get(f"/ui/sign-in?token={made.text}").status_code == 200
    assert served.get().status_code == 401


@pytest.mark.parametrize(
    ("said", "to"),
    [
        ("/ui/tools/x?y=1", "/ui/tools/x?y=1"),
        *((each, "/ui/") for each in ("", "/", "//evil.example", "https://evil.example", "ui/")),
        *((each, "/ui/") for each in ("/\\evil.example", "/ui/\\x", "/ui/\r\nSet-Cookie: a=b")),
        *(
            (each, "/ui/")
            for each in ("javascript:alert(1)", "/ui/" + "x" * 5_000, "/uix", "/ui/é")
        ),
    ],
)
def test_one_goes_on_to_where_one_wanted_but_to_no_other_site(said, to):
    assert safe_next(said) == to


def test_the_form_says_where_to_go_on_and_nothing_of_a_stranger(served):
    page = served.get('/ui/sign-in?next=/ui/x"><script>alert(1)</script>').text
    assert "<script>" not in page
    answer = enter(
        served, BoardTokens(served.board.store).make(Role.READER).text, next="%2Fui%2Ftools%3Fq%3Da"
    )
    assert answer.headers["location"] == "/ui/tools?q=a"


# What a session is good for, and how long.


def test_nothing_is_changed_by_the_cookie_alone(served):
    enter(served, BoardTokens(served.board.store).make(Role.ADMIN).text)
    assert served.ask("POST", "/who").status_code == 403
    assert served.ask("POST", "/who", Origin="https://evil.example.com").status_code == 403
    assert served.ask("POST", "/who", Origin=served.base).status_code == 200


def test_a_token_in_the_header_goes_before_the_cookie(served):
    enter(served, BoardTokens(served.board.store).make(Role.ADMIN).text)
    other = BoardTokens(served.board.store).make(Role.READER)
    assert served.get(token=other.text).json()["subject"] == other.token.name
    assert served.get(token="bad").status_code == 401


def test_signing_out_ends_the_session_wherever_the_cookie_is(served):
    said = cookie_of(enter(served, BoardTokens(served.board.store).make(Role.READER).text))
    cookie = said.partition(";")[0]
    answer = served.ask("POST", "/ui/sign-out", Origin=served.base)
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/sign-in")
    assert "Max-Age=0" in cookie_of(answer)
    assert served.get(Cookie=cookie).status_code == 401
    assert served.ask("POST", "/ui/sign-out").status_code == 303  # once more does no harm
    assert served.get("/ui/sign-out").status_code == 405  # no picture on a page signs one out


def test_whoever_signs_in_again_has_a_new_session_and_the_old_one_is_gone(served):
    made = BoardTokens(served.board.store).make(Role.READER)
    first = cookie_of(enter(served, made.text)).partition(";")[0]
    second = cookie_of(enter(served, made.text)).partition(";")[0]
    assert first != second
    served.http.cookies.clear()
    assert served.get(Cookie=first).status_code == 401
    assert served.get(Cookie=second).status_code == 200


def test_revoking_a_token_ends_its_sessions(served):
    made = BoardTokens(served.board.store).make(Role.READER)
    other = BoardTokens(served.board.store).make(Role.READER)
    kept = cookie_of(enter(served, other.text)).partition(";")[0]
    served.http.cookies.clear()
    enter(served, made.text)
    assert served.get().status_code == 200
    BoardTokens(served.board.store).revoke(made.token.name)
    served.clock.now += CHECKED_SECONDS + 0.1
    assert served.get().status_code == 401
    served.http.cookies.clear()
    assert served.get(Cookie=kept).status_code == 200


def test_a_session_ends_with_its_token(served, monkeypatch):
    made = BoardTokens(served.board.store).make(Role.READER, seconds=60)
    enter(served, made.text)
    assert served.get().status_code == 200
    [session] = [s for s in served.sign_in.sessions._open.values() if s.token_id == made.token.id]
    assert session.until == made.token.expires_at
    later = time.time() + 61
    monkeypatch.setattr(served.sign_in.sessions, "_clock", lambda: later)
    assert served.get().status_code == 401


@pytest.mark.parametrize("value", ["x", "", '"', "%00", "x" * 10_000, "a;b", "=", "é"])
def test_a_cookie_that_means_nothing_lets_nobody_in(served, value):
    line = f"Cookie: pegboard_session_{served.port}={value}".encode()
    host = f"Host: 127.0.0.1:{served.port}".encode()
    assert served.raw(b"GET /who HTTP/1.1", host, line)[0] == 401


def test_where_no_token_is_needed_an_old_cookie_does_no_harm(sqlite_store):
    with serving(sqlite_store, ServeSettings(loopback="reader")) as served:
        cookie = f"pegboard_session_{served.port}=old"
        assert served.get(Cookie=cookie).json()["role"] == "reader"


def test_a_token_of_an_identity_provider_opens_a_session_until_it_ends(sqlite_store):
    issuer, signer = Issuer(), make_signer("key", "ES256")
    issuer.keys = [signer.jwk()]
    try:
        with serving(sqlite_store, issuer.settings()) as served:
            ends = int(time.time()) + 100
            assert enter(served, issuer.token(signer, exp=ends)).status_code == 303
            assert served.get().json()["subject"] == "alice"
            [session] = served.sign_in.sessions._open.values()
            assert ends <= session.until <= ends + 60
    finally:
        issuer.close()


# By a link.


def test_a_link_signs_in_once_as_an_admin_of_the_whole_board(served):
    link = sign_in_link(served.sign_in, served.base)
    answer = served.http.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/ui/")
    assert served.get().json() == {"subject": "local", "namespaces": [], "role": "admin"}
    served.http.cookies.clear()
    again = served.http.get(link)
    assert again.status_code == 401
    assert cookie_of(again) == ""
    assert "one time" in again.text


def test_a_link_that_somebody_looks_at_beforehand_is_still_good(served):
    link = sign_in_link(served.sign_in, served.base)
    assert served.http.head(link).status_code == 401
    assert served.http.get(link).status_code == 303


def test_a_link_is_for_this_machine_and_not_for_those_behind_a_proxy(served):
    link = sign_in_link(served.sign_in, served.base)
    answer = served.http.get(link, headers={"X-Forwarded-For": "8.8.8.8"})
    assert answer.status_code == 401
    assert served.http.get(link).status_code == 303


def test_no_other_code_is_good(served):
    sign_in_link(served.sign_in, served.base)
    for code in ("", "x", "%00", "é", "a" * 43):
        assert served.get(f"/ui/sign-in?code={code}").status_code == 401


class Times:
    now = 1_000_000.0

    def __call__(self):
        return self.now


def test_a_link_is_good_for_ten_minutes():
    clock = Times()
    sessions = Sessions(clock)
    first, second = sessions.make_code(), sessions.make_code()
    clock.now += CODE_SECONDS - 1
    assert sessions.take_code(first)
    clock.now += 2
    assert not sessions.take_code(second)


def test_sessions_end_after_some_hours_and_sooner_if_they_must():
    clock = Times()
    sessions = Sessions(clock)
    long, short = sessions.open(Caller("a")), sessions.open(Caller("b"), until=clock.now + 60)
    endless = sessions.open(Caller("c"), until=clock.now + 1e9)
    clock.now += 61
    assert sessions.find(short) is None
    assert sessions.find(long).caller == Caller("a")
    clock.now += SESSION_SECONDS
    assert sessions.find(long) is None
    assert sessions.find(endless) is None
    assert len(sessions) == 0


def test_there_are_so_many_sessions_and_no_more():
    sessions = Sessions(Times())
    kept = sessions.open(Caller("quiet"))
    busy = [sessions.open(Caller("busy")) for _ in range(5 * MOST_OF_ONE)]
    assert sum(sessions.find(each) is not None for each in busy) == MOST_OF_ONE
    assert sessions.find(busy[-1])
    assert sessions.find(kept)
    for number in range(MOST_SESSIONS + 50):
        sessions.open(Caller(f"n{number}"))
    assert len(sessions) == MOST_SESSIONS
