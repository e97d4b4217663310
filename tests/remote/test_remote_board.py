"""Whatever a gateway answers, a board behind it gives a value or an error that Pegboard knows."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remote_parts import saying, stranger

from making_hits import make_hit
from pegboard.board.create.drafts import draft_of
from pegboard.board.find.requests import combined
from pegboard.board.publish.releasing import Parcel
from pegboard.config.gateway import GatewayPlace
from pegboard.config.settings import Settings
from pegboard.errors import (
    BoardUnreachable,
    ChangedMeanwhile,
    PegboardError,
    TookTooLong,
    UsageError,
)
from pegboard.formats.plain import plain
from pegboard.model.answers import Answer
from pegboard.model.calls import Artifact, Outcome, ServerConfig, Transport
from pegboard.model.items import Filters
from pegboard.model.releases import Decision
from pegboard.remote.board import ASKED_BY, RemoteBoard
from pegboard.remote.connection import Answered
from pegboard.search.query import MAX_CHARACTERS
from pegboard.serve.http.filters import ItemFilters

MANIFEST = {"tool_id": "a", "tool_type": "bash", "executor_config": {"entrypoint": "run.sh"}}
RELEASE = Decision(deprecated=True)
DRAFT = draft_of(MANIFEST, {"run.sh": "echo"})
NAMES = re.findall(
    r"\w+",
    """hits item runs links version files content base64 artifacts outcome state id alike trial mark
    question sources answer requests query nearest changes history rejections categories queued
    approved reasons
    versions number record signature bundle latest yanked_at status code lines changed""",
)
ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)
METHODS = {
    "search": lambda board: board.search("x"),
    "show": lambda board: board.show("x"),
    "about": lambda board: board.curate.about("x"),
    "census": lambda board: board.census(),
    "call": lambda board: board.prepare_call("x", {}).result(lambda question: True),
    "runs": lambda board: board.runs("x"),
    "create": lambda board: board.create(DRAFT),
    "sources": lambda board: board.sources(),
    "sync": lambda board: board.sync(),
    "backfill": lambda board: board.backfill(),
    "refresh": lambda board: board.refresh(None),
    "status": lambda board: board.status(),
    "changes": lambda board: board.changes(),
    "approve": lambda board: board.approve(["x"]),
    "describe": lambda board: board.curate.describe("x", "y", ""),
    "history": lambda board: board.curate.history("x"),
    "rejections": lambda board: board.curate.rejections(),
    "loose_links": lambda board: board.curate.loose_links(),
    "add": lambda board: board.add_source("openapi", "https://a.example", name=None),
    "remove": lambda board: board.remove_source("x"),
    "examined": lambda board: board.examined(),
    "publish": lambda board: board.releases.publish(Parcel(b"PK", b"")),
    "shelf": lambda board: board.releases.shelf("x"),
    "parcel": lambda board: board.releases.parcel("x", "1.0.0"),
    "parcel again": lambda board: board.releases.parcel("x", "1.0.0", count=False),
    "version": lambda board: board.releases.version("x", "1.0.0"),
    "yank": lambda board: board.releases.yank("x", "1.0.0", yanked=True, reason=""),
    "decide": lambda board: board.releases.decide("x", RELEASE),
    "audit": lambda board: board.releases.audit("x"),
}


class Saying:
    """In place of a connection: the same answer to everything."""

    address = "https://a.example"

    def __init__(self, value, code=""):
        self.answer = Answered(value, code)
        self.asked = []

    def ask(self, request):
        self.asked.append(request)
        return self.answer if self.answer.code in ("", *request.taken) else Answered({})

    def close(self):
        """Nothing is open."""


BOARD = RemoteBoard(GatewayPlace("http://127.0.0.1:9"), Settings())


def board_of(connection):
    BOARD.gateway.connection = connection
    return BOARD


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=50)
@given(value=ANSWERS, code=st.sampled_from(["", "approval_needed", "alike", "took_too_long"]))
def test_no_answer_is_more_than_an_error(method, value, code):
    value = value if isinstance(value, dict) or not code else {"code": code, "detail": value}
    try:
        METHODS[method](board_of(Saying(value, code)))
    except PegboardError as error:
        assert str(error)


def test_every_filter_has_a_name_at_the_gateway():
    assert set(ASKED_BY) == set(Filters._fields) - {"active", "live"}
    assert set(ASKED_BY.values()) | {"state"} == set(ItemFilters.model_fields)


def test_what_is_not_understood_is_named_with_what_to_compare():
    with pytest.raises(BoardUnreachable, match="hits is 3, and not a list") as error:
        board_of(Saying({"hits": 3})).search("x")
    assert "another version" in error.value.hint


def test_a_search_that_was_too_slow_has_what_was_found_by_then():
    told = {"code": "took_too_long", "detail": "not all in time", "answer": {"hits": []}}
    found = board_of(Saying(told, "took_too_long")).search("x")
    assert (found.hits, found.notices) == ((), ("not all in time",))
    with pytest.raises(TookTooLong):
        board_of(Saying({"code": "took_too_long"}, "took_too_long")).search("x")


SEVERAL = "send a mail, then book a room"


def told(hits, *requests):
    document = Answer(hits=tuple(hits)).as_document() | {"requests": requests}
    return json.loads(json.dumps(plain(document)))


def test_the_requests_of_a_question_are_rebuilt_from_the_ids_of_their_hits():
    mail, room = make_hit("a:b:mail"), make_hit("a:b:room", namespace="blue")
    near = make_hit("a:b:boat")
    answer = combined(
        ["send a mail", "book a room", "row a boat"],
        [Answer(hits=(mail, room)), Answer(hits=(room,)), Answer(hits=(), nearest=(near,))],
    )
    document = json.loads(json.dumps(plain(answer.as_document())))
    assert document["requests"][1]["hits"] == ["blue/a:b:room"]
    found = board_of(Saying(document)).search(SEVERAL)
    assert (found.hits, found.requests) == (answer.hits, answer.requests)


def test_a_gateway_that_splits_nothing_answers_the_question_as_a_whole():
    hit = make_hit("a:b:mail")
    document = json.loads(json.dumps(plain(Answer(hits=(hit,)).as_document())))
    assert "requests" not in document
    found = board_of(Saying(document)).search(SEVERAL)
    assert (found.hits, found.requests) == ((hit,), ())


def test_an_id_that_is_not_among_the_hits_is_passed_over():
    found = board_of(Saying(told([], {"query": "x", "hits": ["a:b:gone"]}))).search(SEVERAL)
    assert [(each.text, each.answer.hits) for each in found.requests] == [("x", ())]
    with pytest.raises(BoardUnreachable, match="not understood"):
        board_of(Saying(told([], {"hits": 3}))).search(SEVERAL)


def test_a_late_answer_has_its_requests_too():
    late = {"code": "took_too_long", "detail": "late", "answer": told([], {"query": "x"})}
    found = board_of(Saying(late, "took_too_long")).search(SEVERAL)
    assert [each.text for each in found.requests] == ["x"]


class Older(Saying):
    """A gateway that knows no `split`, and refuses what it does not know."""

    def ask(self, request):
        if "split" in request.body:
            raise UsageError("there is no field 'split'")
        return super().ask(request)


@pytest.mark.parametrize("gateway", [Saying, Older])
def test_a_question_that_is_not_to_be_split_says_so_only_if_it_would_be(gateway):
    connection = gateway({"hits": []})
    board = board_of(connection)
    board.search("send a mail", split=False)
    board.search(SEVERAL)
    assert not any("split" in each.body for each in connection.asked)
    board.search(SEVERAL, split=False)
    assert connection.asked[-1].body.get("split") is (None if gateway is Older else False)


def test_only_the_part_of_a_question_that_a_gateway_reads_is_split():
    connection = Saying({"hits": []})
    board_of(connection).search(f"send a mail{' ' * MAX_CHARACTERS}, then book a room", split=False)
    [request] = connection.asked
    assert "split" not in request.body


def test_a_call_that_changes_while_somebody_thinks_about_it_is_not_made():
    told = {"code": "approval_needed", "question": "Really?", "mark": "m"}
    connection = Saying(told, "approval_needed")
    with pytest.raises(ChangedMeanwhile):
        board_of(connection).prepare_call("x", {}).result(lambda question: True)
    assert [request.body.get("approve") for request in connection.asked] == [None, "m"]


def test_nobody_is_asked_twice_what_they_have_refused():
    told = {"code": "approval_needed", "question": "Really?", "mark": "m"}
    connection = Saying(told, "approval_needed")
    call = board_of(connection).prepare_call("x", {})
    assert call.question == "Really?"
    assert call.result(lambda question: False).outcome is Outcome.DENIED
    assert len(connection.asked) == 1


def test_a_file_that_was_too_large_to_be_sent_is_told_of():
    made = [
        {"name": "a.bin", "media_type": "x/y", "bytes": 3, "base64": "AAH/"},
        {"name": "b.bin", "media_type": "x/y", "bytes": 9_000_000},
    ]
    told = {"outcome": "ok", "id": "t:c:x", "artifacts": made, "logs": "busy"}
    call = board_of(Saying(told)).prepare_call("x", {})
    result = call.result()
    assert result.artifacts == (Artifact("a.bin", "x/y", b"\x00\x01\xff"),)
    assert result.logs == "busy\nnote: b.bin stayed at the gateway: too large to be sent"
    assert call.item.id == "t:c:x"


def test_only_servers_that_are_no_more_than_an_address_are_added():
    connection = Saying({"name": "clock", "kind": "mcp", "location": "https://b.example/mcp"})
    config = ServerConfig("clock", Transport.HTTP, url="https://b.example/mcp")
    board_of(connection).add_servers([config])
    assert connection.asked[0].body == {
        "kind": "mcp",
        "url": "https://b.example/mcp",
        "name": "clock",
        "namespace": "public",
        "transport": "http",
        "sync": False,
    }
    for field, value in (("headers", {"a": "b"}), ("enabled", False), ("call_seconds", 1.0)):
        with pytest.raises(PegboardError, match=field):
            board_of(connection).add_servers([config._replace(**{field: value})])


def test_a_hostile_gateway_cannot_reach_the_terminal():
    hit = {
        "id": "a:b:c",
        "kind": "tool",
        "namespace": "public",
        "name": "\x1b[2J",
        "category": "",
        "source": "",
        "description": "\x1b]0;owned\x07",
        "score": 1,
        "match_type": "both",
        "breakdown": {},
        "reason": "\u202e",
    }
    answer = saying(body=json.dumps({"hits": [hit]}).encode())
    with stranger(answer) as there, RemoteBoard(there.place, Settings()) as board:
        found = board.search("x").hits[0]
    assert "\x1b" not in "".join(map(str, found))
    assert "\u202e" not in found.reason
