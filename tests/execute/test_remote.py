import logging
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from execute_parts import WAIT, evil

from pegboard.errors import ServerUnavailable
from pegboard.execute.mcp import remote
from pegboard.model.calls import Health, Outcome, ServerConfig, Transport
from real_servers import Background, everything_over, free_port

pytestmark = pytest.mark.server

GUARDED = [sys.executable, str(Path(__file__).parent / "guarded.py")]
PATHS = {Transport.HTTP: "mcp", Transport.SSE: "sse"}


def at(port: int, transport: Transport = Transport.HTTP, **fields) -> ServerConfig:
    address = f"http://127.0.0.1:{port}/{PATHS[transport]}"
    fields = {"url": address, "start_seconds": WAIT, "call_seconds": WAIT} | fields
    return ServerConfig("far", transport, **fields)


@pytest.fixture(params=[Transport.HTTP, Transport.SSE], ids=str)
def everything(request) -> Iterator[ServerConfig]:
    with everything_over(request.param) as started:
        yield at(started.port, request.param)


def test_tools_are_listed_and_called_over_http_and_sse(pool, everything):
    made = pool(everything)
    assert {"echo", "get-tiny-image"} <= set(made.tools("far"))
    assert made.said("far", "echo", message="hello") == "Echo: hello"
    assert made.call("far", "get-tiny-image").content[1]["type"] == "image"
    heard: list[float] = []
    long = made.sessions.call(
        "far",
        "trigger-long-running-operation",
        {"duration": 0.3, "steps": 3},
        on_progress=lambda progress: heard.append(progress.done),
    )
    assert long.result(WAIT).outcome is Outcome.OK
    assert heard == [1, 2, 3]
    arguments = {"duration": 30, "steps": 3}
    hung = made.sessions.call("far", "trigger-long-running-operation", arguments, seconds=0.2)
    assert hung.result(WAIT).outcome is Outcome.TIMEOUT
    assert made.said("far", "echo", message="on") == "Echo: on"


def test_a_server_that_was_started_again_is_greeted_again_within_the_call(pool):
    with everything_over(Transport.HTTP) as first:
        made = pool(at(first.port))
        assert made.said("far", "echo", message="1") == "Echo: 1"
    with everything_over(Transport.HTTP, first.port):
        assert made.said("far", "echo", message="2") == "Echo: 2"
    gone = made.call("far", "echo", message="3")
    assert gone.outcome is Outcome.UNAVAILABLE
    assert made.heard("far", Health.DOWN)


def test_a_server_that_vanishes_is_noticed_without_a_call(pool, monkeypatch):
    monkeypatch.setattr("pegboard.execute.mcp.connection.PULSE", 0.1)
    with everything_over(Transport.HTTP) as started:
        made = pool(at(started.port))
        made.tools("far")
    assert made.heard("far", Health.DOWN).error


def test_headers_are_sent_and_a_wrong_key_is_named_but_not_shown(pool, caplog):
    caplog.set_level(logging.DEBUG)
    headers = {"Authorization": "Bearer ${KEY}", "X-Greeting": "good day"}
    with Background(GUARDED, "running on") as started:
        made = pool(at(started.port, headers=headers), KEY="open-sesame")
        assert made.said("far", "greeting") == "good day"
        refused = pool(at(started.port, headers=headers), KEY="shut-sesame")
        with pytest.raises(ServerUnavailable, match="HTTP status 401") as raised:
            refused.tools("far")
    assert "its headers may lack the right key" in raised.value.message
    assert "sesame" not in str(raised.value) + caplog.text


def test_nobody_at_the_address_is_a_clear_error(pool):
    made = pool(at(free_port()), evil("Well"))
    with pytest.raises(ServerUnavailable, match="nothing answers at http"):
        made.tools("far")
    assert made.said("Well", "echo", say="x") == "x"


def test_an_address_that_is_none_is_a_clear_error(pool):
    with pytest.raises(ServerUnavailable, match="far"):
        pool(at(0, url="nonsense")).tools("far")


class Strange(BaseHTTPRequestHandler):
    """Answers every request in the way that its address names."""

    over: threading.Event

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        getattr(self, self.path[1:])()

    do_GET = do_POST

    def endless(self) -> None:
        self.begin("application/json")
        while not self.over.is_set():
            self.wfile.write(b" " * 65536)

    def compressed(self) -> None:
        self.begin("application/json", "gzip")

    def page(self) -> None:
        self.begin("text/html")

    def silent(self) -> None:
        self.over.wait(WAIT)

    def begin(self, kind: str, encoding: str = "identity") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-encoding", encoding)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def strange() -> Iterator[str]:
    Strange.over = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Strange)
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Strange.over.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("endless", "an answer of more than 1 MB"),
        ("compressed", "compressed an answer though it was asked not to"),
        ("page", "Unexpected content type: text/html"),
        ("silent", "did not answer within 1 s"),
    ],
)
def test_a_strange_answer_is_a_clear_error(pool, strange, monkeypatch, path, complaint):
    monkeypatch.setattr(remote, "MAX_BODY", 1 << 20)
    seconds = 1.0 if path == "silent" else WAIT
    made = pool(at(0, url=f"{strange}/{path}", start_seconds=seconds), evil("Well"))
    with pytest.raises(ServerUnavailable, match=complaint):
        made.tools("far")
    assert made.said("Well", "echo", say="x") == "x"
