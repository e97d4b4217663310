"""`/events`: what changes while somebody watches, and nothing of what is hidden from them."""

import json
import queue
import threading
from typing import Any

import pytest
from gateway_parts import BOUND, Here, Tokens

from making import make_item
from pegboard.board.trust.tokens import BoardTokens
from pegboard.model.calls import Caller, Role
from pegboard.serve.http import events, lasting
from pegboard.serve.http.signin import BoardSignIn
from waiting import until

ALL = Caller("olga", (), Role.ADMIN)
A = Caller("ada", ("team-a",), Role.AUTHOR)
B = Caller("bert", ("team-b",))


class Listening:
    """A client that reads a stream of events in a thread of its own."""

    def __init__(self, here: Here, token: str, query: str = "") -> None:
        self.heard: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        self.status = 0
        self._client = here.client(token)
        self._thread = threading.Thread(target=self._listen, args=(query,))
        self._thread.start()

    def _listen(self, query: str) -> None:
        with self._client, self._client.stream("GET", f"/events{query}") as stream:
            self.status = stream.status_code
            event = ""
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    self.heard.put((event, json.loads(line.removeprefix("data: "))))
                elif line.startswith(":"):
                    self.heard.put(("beat", None))
        self.heard.put(None)

    def next(self, event: str) -> Any:
        """What the next event of this name says; others are passed over."""
        while (heard := self.heard.get(timeout=BOUND)) is not None:
            if heard[0] == event:
                return heard[1]
        raise AssertionError("the stream ended")

    def ended(self) -> bool:
        self._thread.join(BOUND)
        return not self._thread.is_alive()


@pytest.fixture
def board(open_board):
    return open_board(serve__requests_per_minute=0)


@pytest.fixture
def tokens():
    return Tokens(all=ALL, a=A, b=B)


@pytest.fixture
def here(board, tokens, monkeypatch):
    monkeypatch.setattr(events, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(events, "SHARE", 0)
    monkeypatch.setattr(lasting, "PAUSE_SECONDS", 0.0)
    with Here(board, tokens) as found:
        yield found


def add(here, name, namespace="public"):
    board = here.gateway.board
    item = make_item(name, namespace=namespace, origin=f"{name}.py")
    board.store.items.put([item], board.target)
    here.gateway.board_changed()
    return item


def test_counts_are_sent_at_once_and_again_when_they_differ(here):
    listening = Listening(here, "all")
    first = listening.next("status")
    assert first["embeddings"] == {
        "total": 4,
        "ready": 4,
        "pending": 0,
        "failed": 0,
        "disabled": 0,
        "blank": 0,
    }
    add(here, "fly_kite")
    assert listening.next("status")["embeddings"]["pending"] == 1
    here.gateway.board.backfill()
    here.gateway.board_changed()
    assert listening.next("status")["embeddings"]["ready"] == 5
    here.stop()
    assert listening.ended()


def test_while_texts_wait_it_looks_without_being_told(here, monkeypatch):
    """A worker of another machine tells nobody of what it has done."""
    monkeypatch.setattr(events, "WORKING_SECONDS", 0.05)
    listening = Listening(here, "all")
    assert listening.next("status")["waiting"] == 0
    add(here, "fly_kite")
    assert listening.next("status")["waiting"] == 1
    here.gateway.board.backfill()
    assert listening.next("status")["waiting"] == 0
    here.stop()
    assert listening.ended()


def test_an_item_is_followed_from_pending_to_ready(here):
    item = add(here, "fly_kite")
    listening = Listening(here, "all", f"?item={item.id}")
    first = listening.next("item")
    assert first["embedding"]["status"] == "pending"
    here.gateway.board.backfill()
    here.gateway.board_changed()
    second = listening.next("item")
    assert second["embedding"]["status"] == "ready"
    assert second["embedding"]["model"].startswith("test:")
    assert second["etag"] == first["etag"], "upkeep is no change of the item"
    here.gateway.board.curate.describe(item.id, "Let it rise.", "olga")
    here.gateway.board_changed()
    third = listening.next("item")
    assert third["etag"] != first["etag"]
    here.gateway.board.curate.deactivate(item.id, "olga")
    here.gateway.board_changed()
    assert listening.next("item")["active"] is False
    here.stop()
    assert listening.ended()


def test_what_looks_the_same_is_not_sent_again_and_a_sign_of_life_is(here, monkeypatch):
    monkeypatch.setattr(events, "BEAT_SECONDS", 0.05)
    listening = Listening(here, "all")
    listening.next("status")
    for _ in range(20):
        here.gateway.board_changed()
    assert listening.next("beat") is None
    add(here, "fly_kite")
    heard = []
    while (each := listening.heard.get(timeout=BOUND))[0] != "status":
        heard.append(each)
    assert all(each == ("beat", None) for each in heard)
    here.stop()
    assert listening.ended()


def test_nobody_hears_of_an_item_that_is_not_there_for_them(here):
    item = add(here, "fly_kite", "team-a")
    with here.client("b") as client:
        hidden = client.get(f"/events?item=team-a/{item.id}")
        never = client.get("/events?item=team-a/mcptools:mail:never_was")
    assert hidden.status_code == never.status_code == 404
    assert hidden.text.replace(item.id, "X") == never.text.replace("mcptools:mail:never_was", "X")


def test_what_changes_where_one_does_not_see_is_not_heard_of(here, monkeypatch):
    """Though it is looked at after each change, as what others hear shows, and time passes."""
    told = iter(range(1, 1_000))
    monkeypatch.setattr("pegboard.store.sqlite.tasks.a_second", lambda *args: float(next(told)))
    hidden, seen = Listening(here, "b"), Listening(here, "all")
    first = hidden.next("status")
    seen.next("status")
    for number in range(3):
        add(here, f"secret_{number}", "team-a")
        assert seen.next("status")["embeddings"]["total"] == 5 + number
    here.gateway.board.backfill()
    here.gateway.board_changed()
    while seen.next("status")["waiting"]:
        pass
    add(here, "fly_kite")
    second = hidden.next("status")
    assert (first["embeddings"]["total"], second["embeddings"]["total"]) == (4, 5)
    here.stop()
    assert hidden.ended()
    assert seen.ended()
    assert [heard for heard in iter(hidden.heard.get_nowait, None) if heard[0] == "status"] == []


def test_an_item_that_goes_out_of_sight_is_gone(here, board):
    item = add(here, "fly_kite")
    listening = Listening(here, "all", f"?item={item.id}")
    assert listening.next("item")["id"] == item.id
    board.store.items.retire(item.source, [], 1e12, 1e12)
    here.gateway.board_changed()
    assert listening.next("item") == {"name": item.id, "gone": True}
    here.stop()
    assert listening.ended()


def test_a_token_that_is_taken_away_ends_the_stream(here, tokens):
    listening = Listening(here, "a")
    listening.next("status")
    del tokens.callers["a"]
    here.gateway.board_changed()
    assert listening.ended()


def test_a_token_that_was_found_good_just_before_it_was_revoked_ends_the_stream(board, monkeypatch):
    """What is known of a token counts for two seconds; nothing else changes after it."""
    monkeypatch.setattr(lasting, "CHECK_SECONDS", 1_000.0)
    made = BoardTokens(board.store).make(Role.READER, name="rita")
    with Here(board, BoardSignIn(board, board.settings.serve)) as here:
        listening = Listening(here, made.text)
        listening.next("status")
        BoardTokens(board.store).revoke("rita")
        here.gateway.board_changed()
        assert listening.ended()


def test_a_token_that_now_stands_for_another_ends_the_stream(here, tokens):
    listening = Listening(here, "a")
    listening.next("status")
    tokens.callers["a"] = A._replace(role=Role.READER)
    here.gateway.board_changed()
    assert listening.ended()


def test_streams_have_a_bound_for_each_caller_and_leave_nothing_behind(here, monkeypatch):
    monkeypatch.setattr(events, "MOST_OF_A_CALLER", 2)
    streams = [Listening(here, "a") for _ in range(2)]
    for each in streams:
        each.next("status")
    with here.client("a") as client, here.client("all") as admin:
        refused = client.get("/events")
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many")
        assert "pegboard_event_streams 2" in admin.get("/metrics").text
        other = Listening(here, "b")
        other.next("status")
        assert "pegboard_event_streams 3" in admin.get("/metrics").text
        here.gateway.sign_in.within.callers.clear()
        here.gateway.sign_in.within.callers["all"] = ALL
        here.gateway.board_changed()
        for each in (*streams, other):
            assert each.ended()
        assert "pegboard_event_streams 0" in admin.get("/metrics").text
    hub = here.state.events
    here.gateway.board_changed()
    until(lambda: hub._looking.done(), "nobody looks any more")


def test_a_client_that_reads_nothing_costs_a_few_words(here):
    """Of what waits for it, the newest replaces what is older."""
    stream = events.Stream(["x"])
    for number in range(10_000):
        stream.offer("", "status", f"{number}")
        stream.offer("x", "item", f"{number}")
    assert stream._waiting == {"": ("status", "9999"), "x": ("item", "9999")}


@pytest.mark.parametrize(
    "query", ["?item=", "?other=1", "?" + "&".join(f"item=i{n}" for n in range(21))]
)
def test_what_cannot_be_asked_is_refused(here, query):
    with here.client("all") as client:
        assert client.get(f"/events{query}").status_code == 400
