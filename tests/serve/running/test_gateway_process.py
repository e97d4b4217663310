"""`pegboard serve` as a process: where it listens, and how it ends."""

import json
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from gateway_parts import BOUND, Here, Process, Tokens, fill, get, wire

from embedding_server import hangs, running_server
from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.errors import UsageError
from pegboard.serve.process.running import listening, url_of
from waiting import until


def test_it_serves_and_ends_well_whoever_is_connected(served, small_board):
    """Changes are told, streams end with it, idle connections do not keep it; all is logged."""
    process = served("--open", "--log")
    url = process.ready()
    with (
        httpx2.Client(base_url=url, timeout=BOUND) as client,
        client.stream("GET", "/events") as events,
        wire(process.port) as silent,
        wire(process.port) as half,
        wire(process.port) as used,
    ):
        half.send("GET /healthz HTTP/1.1\r\nHost:")
        used.send(get("/search?query=send+mail", Cookie="key=sesame"))
        status, _, body = used.answer()
        assert (status, json.loads(body)["hits"][0]["name"]) == (200, "send_mail")
        used.send(get("/no/such/path%0Aforged"))
        assert used.answer()[0] == 404
        lines = events.iter_lines()
        assert next(line for line in lines if line.startswith("data:")).count('"total":4')
        with Pegboard.open(small_board) as board:  # another process than the one that serves
            board.store.items.put([make_item("fly_kite")], board.target)
        assert next(line for line in lines if line.startswith("data:")).count('"total":5')
        process.signal(signal.SIGTERM)
        for _ in lines:  # to its end, which is a proper one
            pass
        assert process.ended() == 0
        assert silent.is_closed()
    assert "sesame" not in process.said
    logged = [line.split() for line in process.said.splitlines()[3:]]  # after where it serves
    assert [line[:4] for line in logged] == [
        ["pegboard:", "GET", "/events", "200"],
        ["pegboard:", "GET", "/search", "200"],
        ["pegboard:", "GET", "/no/such/path%0Aforged", "404"],
    ]
    assert logged[1][-1] == "local"


def test_a_port_that_is_taken_is_named_with_the_next_step(served):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = served("--port", str(port))
        assert process.ended() == 2
    told = json.loads(process.said)["error"]
    assert told["message"] == f"port {port} of 127.0.0.1 is taken"
    assert "--port" in told["hint"]


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_somebody_else_is_refused(host):
    with pytest.raises(UsageError, match=host):
        listening(host, 0)


def test_an_answer_does_not_wait_until_the_one_before_was_heard():
    with (
        listening("127.0.0.1", 0) as sock,
        socket.create_connection(sock.getsockname(), BOUND),
    ):
        accepted, _ = sock.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "http://127.0.0.1:"), ("::1", "http://[::1]:")]
)
def test_the_address_can_be_used_as_it_is_told(host, shown):
    with listening(host, 0) as sock:
        port = sock.getsockname()[1]
        assert url_of(sock, host) == f"{shown}{port}"
        assert url_of(sock, "0.0.0.0") == f"http://127.0.0.1:{port}"


class Search(threading.Thread):
    def __init__(self, process: Process) -> None:
        super().__init__()
        self.url = process.url
        self.status = 0
        self.start()

    def run(self) -> None:
        asked = httpx2.get(f"{self.url}/search", params={"query": "send mail"}, timeout=BOUND)
        self.status = asked.status_code


@pytest.fixture
def searching(served, small_board, monkeypatch):
    """A gateway with a search in hand, which waits for a service until that is released."""
    with running_server() as service:
        for name, value in {
            "EMBED_PROVIDER": "openai-compatible",
            "EMBED_BASE_URL": service.url,
            "EMBED_MODEL": "served",
            "EMBED_DIMENSION": "64",
            "EMBED_CACHE": "off",
            "SERVE_SEARCH_SECONDS": "20",
            "SERVE_STOP_SECONDS": "20",
        }.items():
            monkeypatch.setenv(f"PEGBOARD_{name}", value)
        Path(small_board).unlink()
        fill(Path(small_board))
        process = served("--open")
        process.ready()
        service.always = hangs
        search = Search(process)
        until(lambda: service.asked[-1].texts == ["send mail"], "the service was asked")
        yield process, service, search
        service.released.set()
        search.join(BOUND)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_when_many_search_other_processes_help_and_end_with_it(served, end):
    process = served("--open", PEGBOARD_SERVE_REQUESTS_PER_MINUTE="0")
    url = process.ready()
    with httpx2.Client(base_url=url, timeout=BOUND) as client, ThreadPoolExecutor(16) as threads:

        def search(_):
            return client.get("/search", params={"query": "send mail"})

        first = search(0).json()["hits"]
        while not (helping := children(process.process.pid)):
            assert [each.json()["hits"] for each in threads.map(search, range(64))] == [first] * 64
        until(lambda: all(has_it_open(pid, "small.db") for pid in helping), "they have the board")
        for _ in range(5):
            assert {each.status_code for each in threads.map(search, range(64))} == {200}
    process.signal(end)
    assert process.ended() == (0 if end != signal.SIGKILL else -signal.SIGKILL)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in helping), "they have ended")


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # a thread that has ended
            found += map(int, (task / "children").read_text().split())
    return found


def has_it_open(pid: int, name: str) -> bool:
    with suppress(OSError):  # what was open a moment ago
        return any(name in str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir())
    return False


def test_a_request_in_hand_is_answered_before_it_ends(searching):
    process, service, search = searching
    process.signal(signal.SIGTERM)
    until(lambda: refused(process.port), "no new connection is taken")
    assert process.process.poll() is None
    service.released.set()
    assert process.ended() == 0
    search.join(BOUND)
    assert search.status == 200


def test_a_second_signal_insists(searching):
    process, _, search = searching
    process.signal(signal.SIGINT)
    until(lambda: refused(process.port), "no new connection is taken")
    process.signal(signal.SIGINT)
    assert process.ended(10) == 0
    search.join(BOUND)
    assert search.status == 503
    assert "Traceback" not in process.said


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return True
    return False


def test_headers_of_proxies_are_not_believed(open_board):
    """Whoever could choose its address would not be bound by what one address may do."""
    with (
        Here(open_board(serve__requests_per_minute=2), Tokens()) as here,
        here.client() as client,
    ):
        statuses = [
            client.get(
                "/search?query=x", headers={"X-Forwarded-For": f"198.51.100.{n}"}
            ).status_code
            for n in range(4)
        ]
    assert statuses == [401, 401, 429, 429]
