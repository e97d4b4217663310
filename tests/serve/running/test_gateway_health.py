"""Health, readiness and metrics: for whoever keeps the gateway running."""

import re
import threading
from pathlib import Path

import pytest
from gateway_parts import BOUND, Here, Tokens

from making import make_item
from pegboard.errors import BoardUnreachable, ModelUnavailable
from pegboard.model.calls import Caller, CallResult, Outcome, Role
from pegboard.model.items import Kind, ToolType
from pegboard.serve.http import health, signin
from pegboard.serve.http.measuring import Measures
from pegboard.serve.http.metrics import Counter, Histogram, exposition, gauge
from pegboard.serve.http.signin import BoardSignIn
from waiting import until

ALL = Caller("olga", (), Role.ADMIN)
SOME = Caller("ada", ("team-a",), Role.ADMIN)
LINE = re.compile(
    r"^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+=\"[^\"\n]*\"(,[a-z]+=\"[^\"\n]*\")*\})? \S+)$"
)


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def board(open_board):
    return open_board(serve__requests_per_minute=0)


@pytest.fixture
def here(board):
    with Here(board, Tokens(all=ALL, some=SOME, none=Caller("r"))) as found:
        yield found


def test_health_is_for_everybody_and_says_nothing(here):
    with here.client() as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(health, "ILL_SECONDS", 0.0)
    monkeypatch.setattr(health, "PATIENCE_SECONDS", 1.0)


def test_a_board_that_is_away_is_told_by_a_code_and_is_well_again_later(
    here, board, patience, monkeypatch
):
    def away():
        raise BoardUnreachable("postgresql://secret.host cannot be reached")

    with here.client() as client, monkeypatch.context() as broken:
        broken.setattr(board.store, "now", away)
        found = client.get("/readyz")
        assert found.status_code == 503
        assert found.json() == {"status": "not_ready", "reasons": ["board_unavailable"]}
        assert found.headers["retry-after"] == "1"
        broken.undo()
        assert client.get("/readyz").status_code == 200


def test_a_board_that_hangs_and_a_model_that_hangs_are_told_apart(
    here, board, patience, monkeypatch
):
    release = threading.Event()
    with here.client() as client:
        with monkeypatch.context() as stuck:
            stuck.setattr(board.models, "searching", lambda: release.wait(BOUND) and None)
            slow = {"status": "degraded", "reasons": ["model_slow"]}
            assert client.get("/readyz").json() == slow
            assert client.get("/readyz").json() == slow
            assert here.gateway.threads._running == 1, "one trial at a time"
        release.set()
        until(lambda: client.get("/readyz").json() == {"status": "ready"})
        release.clear()
        with monkeypatch.context() as stuck:
            stuck.setattr(board.store, "now", lambda: release.wait(BOUND))
            stuck.setattr(board.models, "searching", lambda: release.wait(BOUND) and None)
            found = client.get("/readyz")
            assert (found.status_code, found.json()["reasons"]) == (503, ["board_slow"])
        release.set()


def test_a_model_that_cannot_be_used_is_told_and_words_go_on(here, board, patience, monkeypatch):
    def unusable():
        raise ModelUnavailable("the file with the weights is damaged")

    monkeypatch.setattr(board.models, "searching", unusable)
    with here.client() as client:
        found = client.get("/readyz")
        assert found.status_code == 200
        assert found.json() == {"status": "degraded", "reasons": ["model_unavailable"]}


def test_without_a_model_it_is_ready(open_board):
    with Here(open_board(embed__provider="disabled")) as here, here.client() as client:
        assert client.get("/readyz").status_code == 200


def test_however_often_it_is_asked_the_board_is_asked_once(here, board, monkeypatch):
    times = []
    monkeypatch.setattr(board.store, "now", lambda: times.append(1))
    with here.client() as client:
        for _ in range(20):
            client.get("/readyz")
    assert len(times) <= 2


def test_metrics_are_for_admins_of_everything(here):
    with here.client("some") as some, here.client("none") as none, here.client() as nobody:
        assert some.get("/metrics").status_code == 403
        assert none.get("/metrics").status_code == 403
        assert nobody.get("/metrics").status_code == 401


def test_metrics_can_be_read_and_have_no_words_of_callers(here):
    with here.client("all") as client, here.client("none") as other:
        for path in (
            "/search?query=quagga",
            "/search?query=quagga&quagga=1",
            "/quagga",
            "/quagga?q=1",
        ):
            other.get(path)
        other.request("QUAGGA", "/quagga")
        here.gateway.board.store.items.put([make_item("quagga_x")], here.gateway.board.target)
        found = client.get("/metrics")
    assert found.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = found.text.splitlines()
    assert [line for line in lines if not LINE.match(line)] == []
    assert "quagga" not in found.text.lower()
    for line in (
        'pegboard_http_requests_total{route="/search",method="GET",status="200"} 1',
        'pegboard_http_requests_total{route="/search",method="GET",status="400"} 1',
        'pegboard_http_requests_total{route="none",method="GET",status="404"} 2',
        'pegboard_http_requests_total{route="none",method="other",status="404"} 1',
        'pegboard_http_request_seconds_count{route="/search"} 2',
        'pegboard_searches_total{mode="hybrid"} 1',
        "pegboard_board_up 1",
        "pegboard_items 5",
        'pegboard_embeddings{status="ready"} 4',
        'pegboard_embeddings{status="pending"} 1',
        "pegboard_tasks_waiting 1",
        "pegboard_mcp_sessions 0",
        "pegboard_event_streams 0",
        "pegboard_rejections 0",
        'pegboard_http_requests_in_hand{kind="free"} 1',
    ):
        assert line in lines
    named = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {"process_resident_memory_bytes", "process_cpu_seconds_total"} <= named


def test_every_number_is_in_the_documents_and_no_other(here):
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "serve.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith(("| `pegboard_", "| `process_"))]
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
    with here.client("all") as client:
        told = re.findall(r"^# TYPE (\S+)", client.get("/metrics").text, re.MULTILINE)
    assert named == set(told)


def test_a_board_that_is_away_leaves_the_other_metrics(here, board, monkeypatch):
    def away():
        raise BoardUnreachable("away")

    monkeypatch.setattr(board.store.tasks, "counts", lambda target: away())
    with here.client("all") as client:
        found = client.get("/metrics")
    assert found.status_code == 200
    assert "pegboard_board_up 0" in found.text
    assert "pegboard_items" not in found.text


def test_a_board_that_hangs_is_told_by_metrics_to_whoever_was_known_before(board, monkeypatch):
    """A token is looked up on the board, and then nobody would learn that it is away."""
    monkeypatch.setattr(health, "METRICS_SECONDS", 0.5)
    monkeypatch.setattr(signin, "WATCHED_SECONDS", 0.5)
    release = threading.Event()
    known, new = (board.tokens.make(Role.ADMIN).text for _ in range(2))
    clock = Clock()
    entry = BoardSignIn(board, board.settings.serve, clock=clock)
    with Here(board, entry) as here, here.client(known) as client, here.client(new) as stranger:
        assert "pegboard_board_up 1" in client.get("/metrics").text
        clock.now += signin.CHECKED_SECONDS + 1
        with monkeypatch.context() as stuck:
            stuck.setattr(board.store, "now", lambda: release.wait(BOUND))
            stuck.setattr(entry._tokens, "check", lambda *_: release.wait(BOUND) and None)
            found = client.get("/metrics")
            assert (found.status_code, "pegboard_board_up 0" in found.text) == (200, True)
            clock.now += signin.STANDING_SECONDS
            release.set()
            assert client.get("/metrics").status_code == 401
            assert stranger.get("/metrics").status_code == 401
        assert client.get("/metrics").status_code == 200


def test_calls_are_counted_by_type_and_outcome():
    measures = Measures()
    tool = make_item("x", tool_type=ToolType.BASH)
    for outcome in (Outcome.OK, Outcome.OK, Outcome.DENIED):
        measures.called(tool, CallResult(outcome))
    measures.called(make_item("y", kind=Kind.SKILL), CallResult(Outcome.OK))
    text = exposition(measures.families()).decode()
    assert 'pegboard_calls_total{type="bash",outcome="ok"} 2' in text
    assert 'pegboard_calls_total{type="bash",outcome="denied"} 1' in text
    assert 'pegboard_calls_total{type="skill",outcome="ok"} 1' in text


def test_a_histogram_counts_up_to_each_bound():
    found = Histogram("took_seconds", "How long.", "route", (0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 5.0):
        found.observe("/x", seconds)
    assert list(found.family().lines) == [
        'took_seconds_bucket{route="/x",le="0.1"} 2',
        'took_seconds_bucket{route="/x",le="1"} 3',
        'took_seconds_bucket{route="/x",le="+Inf"} 4',
        'took_seconds_sum{route="/x"} 5.65',
        'took_seconds_count{route="/x"} 4',
    ]


def test_a_label_cannot_break_out_of_its_quotes():
    found = Counter("things_total", "Things.", ("name",))
    found.add('a"b\\c\nd')
    assert list(found.family().lines) == ['things_total{name="a\\"b\\\\c\\nd"} 1']


def test_a_number_that_is_not_known_has_no_line():
    assert exposition([gauge("x", "X.", None)]) == b"# HELP x X.\n# TYPE x gauge\n"
