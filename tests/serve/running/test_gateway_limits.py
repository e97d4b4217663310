"""What one request may be and take, and that a slow or greedy client is nobody else's trouble."""

import json
import threading
import time

import pytest
from gateway_parts import BOUND, Here, Tokens, Wire, board_at, get, request, wire
from starlette.requests import HTTPConnection

from pegboard.model.calls import Caller
from pegboard.serve.http import connections, limits
from pegboard.serve.http.rates import Buckets, address
from waiting import until


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """One for all tests that leave it as it is."""
    path = tmp_path_factory.mktemp("limits") / "board.db"
    with (
        board_at(path, request_bytes=2_000, requests_per_minute=0) as board,
        Here(board) as found,
    ):
        yield found


def problem(body: bytes) -> str:
    return json.loads(body)["code"]


def post(body: str, **headers: str) -> str:
    return request("POST", "/search", body, **headers)


# How large


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(here):
    with wire(here.port) as client:
        client.send(post("", Content_Length="2001", Expect="100-continue"))
        status, _, body = client.answer()
    assert (status, problem(body)) == (413, "too_large")


def test_a_body_in_chunks_is_refused_when_it_gets_too_large(here):
    with wire(here.port) as client:
        client.send(post("", Transfer_Encoding="chunked"))
        for _ in range(5):
            client.send(f"1f4\r\n{'x' * 500}\r\n")
        status, _, body = client.answer()
    assert (status, problem(body)) == (413, "too_large")


def test_whoever_was_refused_can_go_on_with_the_same_connection(here):
    with wire(here.port) as client:
        client.send(post("x" * 3_000, Content_Length="3000") + get("/healthz"))
        assert client.answer()[0] == 413
        assert client.answer()[0] == 200


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        (get("/healthz", **{f"X-{n}": "y" for n in range(120)}), 431, "headers_too_large"),
        (get("/healthz", Cookie="y" * 40_000), 431, "headers_too_large"),
        (get(f"/healthz?{'y' * 40_000}"), 414, "uri_too_long"),
    ],
)
def test_what_stands_before_a_body_has_bounds_too(here, asked, status, code):
    with wire(here.port) as client:
        client.send(asked)
        found, _, body = client.answer()
    assert (found, problem(body)) == (status, code)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
        post("", Content_Length="5", Transfer_Encoding="chunked").encode(),
        b"POST /search HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n X: folded\r\nA\x00: b\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_no_further(here, sent):
    with wire(here.port) as client:
        client.send(sent)
        assert client.answer()[0] in (400, 405)
    with here.client() as other:
        assert other.get("/healthz").status_code == 200


# How slow


def test_a_body_that_does_not_come_is_given_up(here, monkeypatch):
    gate = here.limits
    monkeypatch.setattr(gate, "_bounds", gate._bounds._replace(body_seconds=0.2))
    with wire(here.port) as client:
        client.send(post("{", Content_Length="100"))
        status, _, body = client.answer()
    assert (status, problem(body)) == (408, "too_slow")
    assert gate._uploads.size == 0


def test_uploads_that_dawdle_take_nobody_elses_turn(open_board):
    """More of them than requests may be in hand."""
    board = open_board(serve__parallel=1, serve__requests_per_minute=0)
    with Here(board) as here, here.client() as client:
        opened = [Wire(here.port) for _ in range(20)]
        for each in opened:
            each.send(post("{", Content_Length="100"))
        assert [client.get("/search?query=mail").status_code for _ in range(5)] == [200] * 5
        for each in opened:
            each.close()


def test_uploads_that_never_end_do_not_keep_others_from_sending(open_board):
    """Nobody has signed in when a body is read. The oldest goes where there are too many."""
    board = open_board(serve__request_bytes=100_000, serve__requests_per_minute=0)
    with Here(board) as here, here.client() as client:
        opened = [Wire(here.port) for _ in range(40)]
        for each in opened:
            each.send(post("{" + " " * 99_998, Content_Length="100000"))
        until(lambda: here.limits._uploads.size == 1_599_984, "there is no room for more")
        found = [
            client.post("/search", json={"query": "mail " * 200}).status_code for _ in range(20)
        ]
        assert found == [200] * 20
        status, _, body = opened[0].answer()
        assert (status, problem(body)) == (503, "busy")
        opened[-1].send("}")
        assert opened[-1].answer()[0] == 415, "whoever came last was read to the end"
        for each in opened:
            each.close()
        until(lambda: here.limits._uploads.size == 0, "all is given back")


def test_connections_that_say_nothing_or_half_of_it_are_ended(here, monkeypatch):
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(connections, "ASK_SECONDS", 0.3)
    with wire(here.port) as silent, wire(here.port) as half, wire(here.port) as busy:
        half.send("GET /healthz HTTP/1.1\r\nX:")
        assert silent.is_closed()
        assert half.is_closed()
        busy.close()


def test_whoever_takes_nothing_of_an_answer_is_cut(here, monkeypatch):
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(connections, "STALL_SECONDS", 0.3)
    state = here.server.server_state
    until(lambda: not state.connections, "nobody else is connected")
    with wire(here.port, receive_buffer=1_024) as deaf:
        deaf.send(get("/metrics") * 1_000)
        until(lambda: state.connections, "it is connected")
        until(lambda: not state.connections, "it was cut")


def test_an_idle_connection_that_was_used_is_kept(here, monkeypatch):
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(connections, "ASK_SECONDS", 0.3)
    with wire(here.port) as used, wire(here.port) as silent:
        used.send(get("/healthz"))
        assert used.answer()[0] == 200
        assert silent.is_closed()  # by then the other one would be, too
        used.send(get("/healthz"))
        assert used.answer()[0] == 200


def test_a_thousand_idle_connections_delay_nobody(here):
    opened = [Wire(here.port) for _ in range(1_000)]
    with here.client() as client:
        assert client.get("/search?query=mail").status_code == 200
    for each in opened:
        each.close()


def test_when_there_are_too_many_connections_those_that_ask_nothing_go(here):
    watch = connections.Watch(most=3)
    with wire(here.port) as used:
        used.send(get("/healthz"))
        used.answer()
        idle = [Wire(here.port) for _ in range(5)]
        state = here.server.server_state
        until(lambda: len(state.connections) == 6, "only these are connected")
        done = threading.Event()

        def look() -> None:
            watch.look(list(state.connections), time.monotonic())
            done.set()

        here.server.servers[0].get_loop().call_soon_threadsafe(look)
        assert done.wait(BOUND)
        until(lambda: len(state.connections) == 3)
        assert watch.ended == 3
        for each in idle:
            each.close()


class Transport:
    """As far as a look at it goes."""

    def __init__(self, buffered: int = 0) -> None:
        self.buffered = buffered
        self.aborted = False

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return self.buffered

    def abort(self) -> None:
        self.aborted = True


class Cycle:
    def __init__(self, complete: bool) -> None:
        self.response_complete = complete


class Connection:
    def __init__(self, cycle: Cycle | None, buffered: int, timer: object = None) -> None:
        self.cycle = cycle
        self.transport = Transport(buffered)
        self.timeout_keep_alive_task = timer


def seen(connection: Connection, seconds: list[float], taken: int = 0) -> bool:
    """Whether it is ended in these looks, between which so many bytes are taken each time."""
    watch = connections.Watch(most=100)
    for now in seconds:
        watch.look([connection], now)
        connection.transport.buffered -= taken
    return connection.transport.aborted


def test_a_client_that_does_not_read_is_let_go_and_a_slow_one_only_after_long():
    waiting = [0.0, 20.0, 40.0]
    assert seen(Connection(Cycle(complete=True), 1_000), waiting)
    assert seen(Connection(Cycle(complete=True), 1_000, timer=object()), waiting)
    assert seen(Connection(Cycle(complete=False), 1_000), waiting)
    assert not seen(Connection(Cycle(complete=True), 1_000), waiting, taken=1)
    long = [20.0 * n for n in range(20)]
    assert seen(Connection(Cycle(complete=True), 1_000), long, taken=1)


def test_we_may_take_our_time_and_a_kept_connection_is_uvicorns_to_end():
    assert not seen(Connection(Cycle(complete=False), 0), [0.0, 100.0, 200.0])
    assert not seen(Connection(Cycle(complete=True), 0, timer=object()), [0.0, 100.0, 200.0])
    assert seen(Connection(Cycle(complete=True), 0), [0.0, 10.0, 30.0])


def test_whoever_reads_slowly_delays_nobody(open_board):
    """Answers that nobody takes wait in their connections."""
    with Here(open_board(serve__requests_per_minute=0)) as here, here.client() as client:
        slow = [Wire(here.port, receive_buffer=1_024) for _ in range(30)]
        for each in slow:
            each.send("".join(get("/metrics") for _ in range(20)))
        assert [client.get("/search?query=mail").status_code for _ in range(5)] == [200] * 5
        for each in slow:
            each.close()


# How many


def test_more_than_can_be_in_hand_are_told_to_come_back_but_health_is_told(open_board):
    board = open_board(serve__parallel=2, serve__requests_per_minute=0)
    holding, release = threading.Semaphore(0), threading.Event()
    search = board.search

    def held(*args, **kwargs):
        holding.release()
        release.wait(BOUND)
        return search(*args, **kwargs)

    board.search = held
    with Here(board) as here, here.client() as client:
        answers: list[int] = []
        threads = [threading.Thread(target=lambda: answers.append(one(here))) for _ in range(2)]
        for each in threads:
            each.start()
        for _ in threads:
            assert holding.acquire(timeout=BOUND)
        refused = client.get("/search?query=mail")
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert refused.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
        assert 'kind="search"} 2' in client.get("/metrics").text
        release.set()
        for each in threads:
            each.join(BOUND)
        assert answers == [200, 200]
        assert client.get("/search?query=mail").status_code == 200


def one(here: Here) -> int:
    with here.client() as client:
        return client.get("/search?query=mail").status_code


def test_a_request_that_is_stuck_is_given_up(open_board, monkeypatch):
    """Whatever it is; a search has a bound of its own that comes first."""
    monkeypatch.setattr(limits, "AFTER_SEARCH_SECONDS", 0.1)
    monkeypatch.setattr("pegboard.serve.http.in_time.GRACE_SECONDS", 100.0)
    board, release = open_board(serve__search_seconds=0.1), threading.Event()
    board.search = lambda *args, **kwargs: release.wait(BOUND)
    with Here(board) as here, here.client() as client:
        found = client.get("/search?query=mail")
        release.set()
    assert (found.status_code, found.json()["code"]) == (504, "took_too_long")


# How often


def test_a_caller_who_asks_too_often_is_told_when_to_come_back(open_board):
    tokens = Tokens(a=Caller("a"), b=Caller("b"))
    with (
        Here(open_board(serve__requests_per_minute=3), tokens) as here,
        here.client("a") as a,
        here.client("b") as b,
        here.client("wrong") as wrong,
    ):
        assert [a.get("/search?query=x").status_code for _ in range(4)] == [200, 200, 200, 429]
        late = a.get("/search?query=x")
        assert late.json()["code"] == "too_many"
        counted = "".join(here.gateway.measures.refusals.family().lines)
        assert counted.count("too_many") == 1
        assert 1 <= int(late.headers["retry-after"]) <= 20
        assert [wrong.get("/search?query=x").status_code for _ in range(4)] == [401, 401, 401, 429]
        assert b.get("/search?query=x").status_code == 200
        assert a.get("/healthz").status_code == 200


def test_a_bucket_fills_again_as_time_passes():
    now = 0.0
    buckets = Buckets(60, clock=lambda: now)
    assert [buckets.take("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take("a") == 1.0
    now = 0.5
    assert buckets.take("a") == 0.5
    now = 1.5
    assert buckets.take("a") == 0.0
    now = 10_000.0
    assert [buckets.take("a") for _ in range(61)] == [0.0] * 60 + [1.0]


def test_however_many_ask_few_are_remembered():
    buckets = Buckets(1, most=100)
    for n in range(1_000):
        buckets.take(n)
    assert len(buckets) == 100
    assert Buckets(0).take("a") == 0.0


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("testclient", "testclient"),
    ],
)
def test_whoever_has_a_network_of_addresses_counts_as_one(host, shown):
    assert address(HTTPConnection({"type": "http", "client": (host, 1)})) == shown
