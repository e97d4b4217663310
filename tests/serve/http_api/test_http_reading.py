"""What a request may say, and what is said to one that cannot be read: never that we broke."""

import json
import socket
from urllib.parse import quote

import pytest
from http_parts import SECONDS, encoded
from hypothesis import given
from hypothesis import strategies as st

from pegboard.serve.http.asking import DEEPEST, LARGE, LONGEST_NUMBER, parsed
from pegboard.serve.http.problems import Declined

CALL = "/tools/post_message/call"
NESTED = b'{"arguments":' * (DEEPEST + 1) + b"{}" + b"}" * (DEEPEST + 1)


@pytest.fixture
def api(shared_api):
    return shared_api


MALFORMED = {
    "no JSON": b"{",
    "nothing": b"",
    "two values": b"{} {}",
    "no UTF-8": b'{"arguments": {"name": "\xff"}}',
    "UTF-16": '{"arguments": {}}'.encode("utf-16"),
    "a mark of byte order": b"\xef\xbb\xbf{}",
    "NaN": b'{"timeout_seconds": NaN}',
    "infinity": b'{"timeout_seconds": -Infinity}',
    "a number beyond all bounds": b'{"timeout_seconds": 1e999}',
    "a number of too many digits": b'{"arguments": {"n": 1%s}}' % (b"0" * LONGEST_NUMBER),
    "a number of very many digits": b'{"arguments": {"n": 1%s}}' % (b"0" * 100_000),
    "half a character": rb'{"arguments": {"name": "\ud800"}}',
    "half a character in a name": rb'{"arguments": {"\uDFFF": 1}}',
    "the same name twice": b'{"arguments": {"a": 1, "a": 2}}',
    "nested too deeply": NESTED,
    "nested without end": b"[" * 100_000,
    "nested in lists": b'{"arguments": {"a": ' + b"[" * 500 + b"]" * 500 + b"}}",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_a_body_that_others_could_read_otherwise_is_refused(api, body):
    found = api.ask("POST", "/tools", raw=body)
    assert (found.status, found.code) == (400, "malformed")
    assert len(found.content) < 1_000


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ([], "the body is []; it must be an object"),
        (None, "the body is null; it must be an object"),
        ({"arguments": []}, "arguments is []"),
        ({"arguments": {}, "how": 1}, "there is no 'how'; there are: arguments"),
        ({"timeout_seconds": "5"}, 'timeout_seconds is "5"'),
        ({"timeout_seconds": True}, "timeout_seconds is true"),
        ({"timeout_seconds": 0}, "timeout_seconds is 0"),
        ({"timeout_seconds": 10**90}, "timeout_seconds is 1000"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(api, body, complaint):
    found = api.ask("POST", CALL, raw=json.dumps(body).encode())
    assert (found.status, found.code) == (400, "usage_error")
    assert complaint in found.json["detail"]


def test_all_that_is_wrong_is_told_at_once(api):
    detail = api.ask("POST", "/search", {"query": "", "limit": "5", "sort": 1}).json["detail"]
    assert all(each in detail for each in ("query is", "limit is", "there is no 'sort'"))


@pytest.mark.parametrize(
    "said",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"],
)
def test_a_body_that_does_not_say_that_it_is_json_is_refused(api, said):
    found = api.ask("POST", CALL, {}, headers={"Content-Type": said})
    assert (found.status, found.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "said",
    ["application/json", 'Application/JSON; Charset="utf8"', "application/merge-patch+json"],
)
def test_json_is_taken_however_it_is_written(api, said):
    found = api.ask("PATCH", "/tools/greet", {"tags": ["a"]}, headers={"Content-Type": said})
    assert found.status == 200


def test_where_nothing_has_to_be_said_nothing_need_be_sent(api):
    assert api.ask("POST", "/tools/wait/call", {"timeout_seconds": 0.1}).status == 200
    assert api.ask("POST", "/tools/greet/call").code == "invalid_arguments"


def test_a_large_body_is_read_as_well(api):
    found = api.ask("POST", CALL, {"arguments": {"text": "x" * 2 * LARGE}})
    assert found.json["text"] == str(2 * LARGE)


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("", "query is missing"),
        ("query=", 'query is ""'),
        ("query=a&query=b", "query is given 2 times"),
        ("query=a&limit=0", "limit is 0"),
        ("query=a&limit=1.0", 'limit is "1.0"; it must be a whole number'),
        ("query=a&limit=%201", "it must be a whole number"),
        ("query=a&limit=99999999999999999999", "it must be a whole number"),
        ("query=a&limit=१", "it must be a whole number"),
        ("query=a&threshold=nan", "it must be a number"),
        ("query=a&threshold=1e999", "threshold is"),
        ("query=a&threshold=2", "threshold is 2.0"),
        ("query=a&diverse=yes", "it must be true or false"),
        ("query=a&mode=best", "mode is"),
        ("query=a&kind=tool&kind=toy", 'kind is "toy"; input should be'),
        ("query=a&vector=1", "there is no 'vector'"),
        ("query=" + "a" * 2_001, "query is"),
    ],
)
def test_a_query_that_cannot_be_used_says_what_is_wrong(api, query, complaint):
    found = api.ask("GET", f"/search?{quote(query, safe='=&%')}")
    assert (found.status, found.code) == (400, "usage_error")
    assert complaint in found.json["detail"]


@pytest.mark.parametrize("query", ["q=%ff", "q=%ed%a0%80", "&".join(["tag=a"] * 1_001)])
def test_a_query_that_cannot_be_read_is_refused(api, query):
    assert api.ask("GET", f"/search?{query}").code == "malformed"


def test_parameters_that_are_not_known_are_refused_everywhere(api):
    for path in ("/status", "/tools/greet/versions", "/sources"):
        assert api.ask("GET", f"{path}?page=2").code == "usage_error"


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: json.dumps(text).encode()))
def test_whatever_bytes_come_are_read_or_refused(body):
    try:
        parsed(body)
    except Declined as declined:
        assert declined.code == "malformed"


# Paths.


def test_what_is_nowhere_is_told_as_a_problem(api):
    for path in ("/nowhere", "/", "/tools/", "/search/", "//", "/%00", "/%ff", "/healthz/x"):
        found = api.ask("GET", path)
        assert (found.status, found.code) == (404, "no_such_path"), path
        assert found.headers["content-type"] == "application/problem+json"


def test_a_method_that_a_path_does_not_take_is_told_those_it_takes(api):
    for path, allow in {
        "/search": "GET, HEAD, OPTIONS, POST",
        "/tools/greet": "DELETE, GET, HEAD, OPTIONS, PATCH",
        "/tools/greet/call": "OPTIONS, POST",
        "/healthz": "GET, HEAD, OPTIONS",
        "/events": "GET, OPTIONS",
    }.items():
        for method in ("PUT", "TRACE", "BREW"):
            found = api.ask(method, path)
            assert (found.status, found.code) == (405, "method_not_allowed")
            assert found.headers["allow"] == allow
        options = api.ask("OPTIONS", path, who="")
        assert (options.status, options.headers["allow"], options.content) == (204, allow, b"")
    assert api.ask("GET", "/tools/greet/call").status == 405
    assert api.send("HEAD", "/events").status == 405


def test_head_is_answered_as_get_without_the_content(api):
    whole = api.ask("GET", "/tools/greet")
    head = api.ask("HEAD", "/tools/greet")
    assert (head.status, head.content) == (200, b"")
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == str(len(whole.content))


@pytest.mark.parametrize(
    "name", ["tools:paper:greet", "public/tools:paper:greet", "paper__greet", "greet"]
)
def test_an_item_has_the_names_that_it_has_everywhere(api, name):
    for path in (f"/tools/{encoded(name)}", f"/tools/{name}", f"/items/{name}"):
        assert api.ask("GET", path).json["item"]["id"] == "tools:paper:greet"
    called = api.ask("POST", f"/tools/{encoded(name)}/call", {"arguments": {"name": "x"}})
    assert called.json["text"] == "hello x\n"


def test_a_slash_inside_an_id_separates_nothing_if_it_is_encoded(api):
    inside = api.ask("GET", "/tools/greet%2Fruns")
    assert inside.json["detail"] == "there is no item 'greet/runs' on this board"
    assert list(api.ask("GET", "/tools/greet/runs").json) == ["runs"]
    assert api.ask("GET", "/%74ools/gr%65et").status == 200


@pytest.mark.parametrize("name", ["%ff", "%ed%a0%80", "a%c0%afb"])
def test_a_path_that_is_not_utf_8_is_refused(api, name):
    for path in (f"/tools/{name}", f"/items/{name}/history", f"/sources/{name}/sync"):
        method = "POST" if path.endswith("sync") else "GET"
        assert api.ask(method, path).code == "malformed"


@pytest.mark.parametrize("name", ["%00", "..", "%2e%2e%2fetc", "%25ff", "a" * 5_000, "%E9%87%91"])
def test_an_odd_name_is_one_that_nothing_has(api, name):
    assert api.ask("GET", f"/tools/{name}").status == 404


def test_bytes_that_are_no_request_do_not_end_it(api):
    for sent in (b"\x00\xff\x00\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", api.port), SECONDS) as connection:
            connection.sendall(sent)
            assert b" 400 " in connection.recv(1_000)
    assert api.ask("GET", "/healthz").status == 200


@pytest.mark.parametrize("host", ["[", "a b", "", "a:b:c", "\xff"])
def test_whatever_is_said_to_be_the_host_breaks_nothing(api, host):
    for path in ("/nowhere", "/tools/nothing", "/tools?limit=1"):
        with socket.create_connection(("127.0.0.1", api.port), SECONDS) as connection:
            said = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer owner\r\n\r\n"
            connection.sendall(said.encode("latin-1"))
            status = int(connection.recv(1_000).split()[1])
            assert status in (200, 400, 404)


def test_a_client_that_goes_away_in_the_middle_of_its_request_harms_nobody(api):
    with socket.create_connection(("127.0.0.1", api.port), SECONDS) as connection:
        connection.sendall(
            b"POST /search HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer owner\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
    assert api.ask("GET", "/healthz").status == 200


# Who asks.


def test_whoever_is_not_known_is_told_how_to_sign_in(api):
    found = api.ask("GET", "/status", who="")
    assert (found.status, found.code) == (401, "not_signed_in")
    assert found.headers["www-authenticate"].startswith("Bearer ")


def test_who_asks_is_known_before_anything_else_is_looked_at(api):
    for path in ("/search", "/tools/nothing", "/search?limit=x"):
        assert api.ask("GET", path, who="").status == 401
    assert api.ask("POST", "/tools", raw=b"{", who="").status == 401
    assert api.ask("POST", "/tools", raw=b"{", who="reader").status == 403


def test_what_needs_a_role_is_refused_to_others_whatever_it_is_about(api):
    for method, path in (
        ("PATCH", "/tools/greet"),
        ("PATCH", "/tools/nothing"),
        ("DELETE", "/tools/greet"),
        ("POST", "/tools/greet/refresh"),
        ("POST", "/refresh"),
        ("POST", "/sources/ai/sync"),
    ):
        found = api.ask(method, path, {}, who="reader")
        assert (found.status, found.code) == (403, "not_allowed")


def test_an_error_that_nobody_knows_shows_nothing_of_itself(api, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("the secret is 42")

    monkeypatch.setattr(type(api.board), "census", broken)
    found = api.send("GET", "/categories")
    assert (found.status, found.code) == (500, "unexpected")
    assert b"42" not in found.content
    assert "the secret is 42" in caplog.text
