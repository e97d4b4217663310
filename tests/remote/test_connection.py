"""A gateway that is slow, gone, something else or hostile: each is an error with the next step."""

import json
import socket
import threading
import tracemalloc

import pytest
from remote_parts import certificate, dripping, raw, saying, stranger

from pegboard.config.gateway import GatewayPlace, gateway_place
from pegboard.errors import (
    BoardUnreachable,
    ConfigError,
    ItemNotFound,
    NotAllowed,
    NotSignedIn,
    PegboardError,
    TookTooLong,
    TooLarge,
    TooMany,
    UsageError,
)
from pegboard.remote.connection import LONGEST_WAIT, Connection, Request
from pegboard.remote.faults import KINDS
from pegboard.serve.http.problems import problem
from pegboard.serve.outward import outward

GET = Request("GET", "/status")
QUICK = GET._replace(seconds=0.5)


def asked(stranger, request=GET, **more):
    connection = Connection(stranger.place, **more)
    try:
        return connection.ask(request)
    finally:
        connection.close()


def refused(kind, stranger, request=GET, **more):
    with pytest.raises(kind) as error:
        asked(stranger, request, **more)
    assert "a-secret-token" not in str(error.value)
    return error.value


def as_problem(**said):
    return json.dumps(said).encode()


def test_what_it_says_in_json_is_the_answer():
    with stranger(saying(body=b'{"a": [1, 2]}')) as there:
        assert asked(there).value == {"a": [1, 2]}
        assert there.asked[0].startswith("GET /status HTTP/1.1\r\n")


def test_the_token_is_shown_and_a_body_sent_as_json():
    with stranger(saying(body=b"{}")) as there:
        asked(there, Request("POST", "/search", body={"query": "Grüße"}))
    head, _, body = there.asked[0].partition("\r\n\r\n")
    assert "authorization: Bearer a-secret-token" in head.replace("Authorization", "authorization")
    assert json.loads(body.encode("latin-1")) == {"query": "Grüße"}


def test_an_answer_without_content_is_nothing():
    with stranger(raw(b"HTTP/1.1 204 No Content\r\n\r\n")) as there:
        assert asked(there).value is None


def test_the_token_is_in_no_text_of_the_place():
    assert "a-secret-token" not in repr(GatewayPlace("https://a", "a-secret-token"))


def test_nobody_there_is_said_with_what_to_check():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    connection = Connection(GatewayPlace(f"http://127.0.0.1:{port}"))
    with pytest.raises(BoardUnreachable, match=r"cannot be reached: .*refused") as error:
        connection.ask(GET)
    assert "pegboard serve" in error.value.hint
    connection.close()


def test_one_that_never_answers_is_given_up():
    over = threading.Event()
    with stranger(lambda connection: over.wait(20)) as there:
        assert "within 0.5 seconds" in refused(TookTooLong, there, QUICK).message
        over.set()


@pytest.mark.parametrize(
    ("begin", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[", b" "),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n",
            b"1\r\n \r\n",
        ),
    ],
    ids=["headers", "body", "chunks"],
)
def test_one_that_says_a_little_now_and_then_is_given_up_too(begin, drop):
    over = threading.Event()
    with stranger(dripping(begin, drop, over)) as there:
        refused(TookTooLong, there, QUICK)
        over.set()


def test_the_second_answer_over_the_same_connection_has_an_end_too():
    over = threading.Event()

    def answer(connection):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        connection.sendall(head + b"Content-Length: 2\r\n\r\n{}")
        connection.recv(65_536)
        dripping(head + b"\r\n[", b" ", over)(connection)

    with stranger(answer) as there:
        connection = Connection(there.place)
        assert connection.ask(GET).value == {}
        with pytest.raises(TookTooLong):
            connection.ask(QUICK)
        over.set()
        connection.close()
        assert len(there.asked) == 1


@pytest.mark.parametrize("length", [b"", b"Content-Length: 99999999999\r\n"])
def test_an_answer_without_end_is_cut_off_and_never_in_memory(length):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + length + b"\r\n"
    with stranger(dripping(head, b"[" * 1_000_000, threading.Event(), pause=0.0)) as there:
        tracemalloc.start()
        try:
            error = refused(TooLarge, there, largest=4 << 20)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert "more than 4 MB" in error.message
    assert most < 32 << 20


@pytest.mark.parametrize(
    "answer",
    [
        raw(b"\x16\x03\x01\x00\xff garbage"),
        raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{}"),
        raw(b""),
    ],
    ids=["bytes", "another protocol", "half an answer", "nothing"],
)
def test_what_is_no_http_is_a_broken_connection(answer):
    with stranger(answer) as there:
        assert "the connection broke" in refused(BoardUnreachable, there).message


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (saying(body=b"<html>Welcome</html>", media="text/html; charset=utf-8"), "text/html"),
        (saying(body=b"hello", media=""), "without a type"),
        (saying(body=b"{'a': 1}"), "no JSON"),
        (saying(body=b'{"a": "\xff\xfe"}'), "no JSON"),
        (saying(body=b"[" * 100_000), "no JSON"),
        (saying(body=b"[]", Content_Encoding="gzip"), "compress"),
        (saying("404 Not Found", b"<h1>nope</h1>", "text/html"), "404"),
        (saying("404 Not Found", b'{"error": "nope"}'), "404"),
    ],
)
def test_what_is_no_gateway_is_said_to_be_none(answer, why):
    with stranger(answer) as there:
        error = refused(BoardUnreachable, there)
    assert "there is no Pegboard gateway at http://127.0.0.1:" in error.message
    assert why in error.message
    assert "/ui" in error.hint


def test_a_gateway_that_does_not_know_a_path_may_be_of_another_version():
    body = b'{"code": "no_such_path", "detail": "there is nothing at /search"}'
    with stranger(saying("404 Not Found", body, "application/problem+json")) as there:
        error = refused(BoardUnreachable, there)
    assert "there is nothing at /search" in error.message
    assert "of another version: compare with pegboard doctor --gateway" in error.hint


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_and_the_token_goes_nowhere(status):
    with stranger(saying(body=b"{}")) as elsewhere:
        target = f"{elsewhere.address}/status?key=1"
        with stranger(saying(status, Location=target)) as there:
            error = refused(BoardUnreachable, there)
        assert f"sends on to {elsewhere.address}/status," in error.message
        assert elsewhere.asked == []


@pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
def test_a_problem_is_the_error_that_it_was(kind):
    whole = kind("what is wrong", "what to do")
    told, known = problem(whole), outward(whole)  # which holds back what is not for those outside
    line = f"{told.status_code} Problem"
    with stranger(saying(line, told.body, told.media_type or "")) as there:
        error = refused(PegboardError, there)
    assert type(error) is kind
    assert error.message == known.message
    assert error.hint == known.hint or kind is NotSignedIn
    assert known == ("what is wrong", "what to do") or kind is BoardUnreachable


def test_a_problem_that_only_a_newer_gateway_knows_says_at_least_what_it_is():
    said = as_problem(code="moon_phase", detail="the moon is full", hint="wait a week")
    with stranger(saying("409 Conflict", said, "application/problem+json")) as there:
        error = refused(PegboardError, there)
    assert (type(error), str(error)) == (PegboardError, "the moon is full\n  wait a week")


def test_a_problem_that_was_asked_for_is_an_answer():
    said = as_problem(code="approval_needed", detail="?", mark="m")
    with stranger(saying("409 Conflict", said, "application/problem+json")) as there:
        answer = asked(there, GET._replace(taken=("approval_needed",)))
    assert (answer.code, answer.value["mark"]) == ("approval_needed", "m")


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        ("401 Unauthorized", NotSignedIn, "PEGBOARD_TOKEN"),
        ("403 Forbidden", NotAllowed, "whoever runs it"),
        ("502 Bad Gateway", BoardUnreachable, "try again"),
    ],
)
def test_what_stands_before_a_gateway_is_understood_as_well(status, kind, hint):
    with stranger(saying(status, b"<h1>no</h1>", "text/html")) as there:
        assert hint in refused(kind, there).hint


TOO_MANY = as_problem(code="too_many", detail="slowly")


def test_one_that_asks_to_wait_is_asked_once_more():
    waited = []
    busy = saying("429 Too Many", TOO_MANY, Retry_After="2")
    with stranger(busy, saying(body=b"[1]")) as there:
        assert asked(there, wait=waited.append).value == [1]
    assert waited == [2.0]


def test_one_that_asks_to_wait_again_is_told_of():
    waited = []
    with stranger(saying("429 Too Many", TOO_MANY, Retry_After="1")) as there:
        error = refused(TooMany, there, wait=waited.append)
    assert (waited, len(there.asked)) == ([1.0], 2)
    assert error.hint == "try again in 1 seconds"


@pytest.mark.parametrize("after", [str(LONGEST_WAIT + 1), "-1", "nan", "inf", "soon", ""])
def test_nobody_waits_for_long_or_for_nothing(after):
    waited = []
    with stranger(saying("429 Too Many", TOO_MANY, Retry_After=after)) as there:
        refused(TooMany, there, wait=waited.append)
    assert (waited, len(there.asked)) == ([], 1)


def test_what_a_terminal_would_obey_is_written_out():
    said = {"name": "a\x1b[2Jb", "many": ["\u202e"], "content": "\x1b"}
    with stranger(saying(body=json.dumps(said).encode())) as there:
        found = asked(there).value
        assert found == {"name": "a\\x1b[2Jb", "many": ["\\u202e"], "content": "\x1b"}
        assert asked(there, GET._replace(raw=True)).value == said
    hostile = as_problem(code="item_not_found", detail="\x1b]0;owned\x07", hint="\x1b[31m")
    with stranger(saying("404 Not Found", hostile)) as there:
        error = refused(ItemNotFound, there, GET._replace(raw=True))
    assert "\x1b" not in str(error)


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path, monkeypatch):
    files = certificate(tmp_path)
    with stranger(saying(body=b"{}")) as there:
        there.with_certificate(files)
        error = refused(BoardUnreachable, there)
        assert "certificate" in error.message.lower()
        assert "SSL_CERT_FILE" in error.hint
        assert there.asked == []


def test_a_certificate_of_ones_own_authority_is_taken(tmp_path, monkeypatch):
    files = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    with stranger(saying(body=b"{}")) as there:
        there.with_certificate(files)
        assert asked(there).value == {}


def test_a_proxy_sees_nothing_of_what_stays_on_this_machine(monkeypatch):
    with stranger(saying(body=b"[]")) as proxy, stranger(saying(body=b"{}")) as there:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        assert asked(there).value == {}
        assert proxy.asked == []


@pytest.mark.parametrize("address", ["http://tools.example.com", "http://10.0.0.1:8420"])
def test_without_tls_only_this_machine_is_asked(address):
    with pytest.raises(ConfigError, match="without TLS") as error:
        Connection(GatewayPlace(address, "a-secret-token"))
    assert "PEGBOARD_GATEWAY_INSECURE" in error.value.hint
    Connection(GatewayPlace(address, insecure=True)).close()


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://a.example"]
)
def test_what_is_near_or_secret_may_be_asked(address):
    Connection(GatewayPlace(address)).close()


def test_a_flag_goes_before_the_variable_and_a_board_before_both():
    environ = {"PEGBOARD_GATEWAY": "https://a.example/", "PEGBOARD_TOKEN": " t0ken\n"}
    assert gateway_place(environ) == ("https://a.example", "t0ken", False)
    assert gateway_place(environ, gateway="https://b.example").address == "https://b.example"
    assert gateway_place(environ, board="board.db") is None
    assert gateway_place({}) is None
    for empty in ("", " "):  # as from a variable of the shell that is not set
        with pytest.raises(UsageError, match="--gateway is empty"):
            gateway_place(environ, gateway=empty)


def test_a_board_and_a_gateway_at_the_same_place_are_refused():
    with pytest.raises(UsageError, match="--board and --gateway"):
        gateway_place({}, gateway="https://a.example", board="board.db")
    both = {"PEGBOARD_GATEWAY": "https://a.example", "PEGBOARD_BOARD": "board.db"}
    with pytest.raises(ConfigError, match="which of them is meant"):
        gateway_place(both)
    assert gateway_place(both, gateway="https://b.example").address == "https://b.example"
    assert gateway_place(both, board="other.db") is None


@pytest.mark.parametrize(
    "address",
    [
        "tools.example.com",
        "ftp://a.example",
        "https://",
        "https://ada:secret@a.example",
        "https://a.example/?token=x",
        "https://a.example/#x",
        "https://a.example:99999",
        "https://[::1",
        "https://a.exam\nple",
    ],
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(UsageError) as error:
        gateway_place({}, gateway=address)
    assert "secret" not in str(error.value)


def test_a_token_may_be_in_a_file(tmp_path):
    (tmp_path / "token").write_text("pgb_x.y-z\n")
    found = gateway_place({}, gateway="https://a", token_file=tmp_path / "token")
    assert found.token == "pgb_x.y-z"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("two words", "the token is none"),
        ("ü", "has no token"),
        ("x" * 20_000, "the token is none"),
    ],
)
def test_a_file_without_a_token_is_refused_and_not_repeated(tmp_path, content, said):
    (tmp_path / "token").write_text(content)
    with pytest.raises(UsageError, match=said) as error:
        gateway_place({}, gateway="https://a", token_file=tmp_path / "token")
    assert content not in str(error.value)


def test_a_token_file_that_is_not_there_or_for_nothing_is_named(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        gateway_place({}, gateway="https://a", token_file=tmp_path / "token")
    with pytest.raises(UsageError, match="--token-file is for a gateway"):
        gateway_place({}, token_file=tmp_path / "token")
