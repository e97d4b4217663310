"""Requests that go wrong on their way: each is answered with a page that says so."""

import asyncio
import logging

import pytest
from starlette.responses import Response
from starlette.routing import BaseRoute

from pegboard.app.pegboard import Pegboard
from pegboard.errors import BoardBusy, NotSignedIn
from pegboard.model.calls import Caller, Role
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.web.visits import MOST_FIELDS, Visit, served

FORM = "application/x-www-form-urlencoded"


class Everybody:
    """One role for whoever asks; without a role, nobody is let in."""

    def __init__(self, role: str) -> None:
        self.role = role

    async def caller(self, connection):
        if self.role == "off":
            raise NotSignedIn("a token is needed")
        return Caller("local", (), Role(self.role))


@pytest.fixture
def board(tmp_path):
    with Pegboard.open(str(tmp_path / "board.db"), create=True) as found:
        yield found


def ask(route: BaseRoute, method: str = "GET", body: bytes = b"", query: bytes = b"") -> Response:
    """One request, as a server hands it on."""
    scope = {
        "type": "http",
        "method": method,
        "path": "/ui/x",
        "query_string": query,
        "headers": [(b"content-type", FORM.encode()), (b"host", b"here")],
    }
    sent: list[dict] = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    async def run():
        await route.app(scope, receive, send)

    asyncio.run(run())
    content = b"".join(each.get("body", b"") for each in sent)
    return Response(
        content, sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}
    )


def page(board: Pegboard, answer, role: str = "admin") -> BaseRoute:
    return served(Gateway(board, Everybody(role)), "/ui/x", get=answer, post=answer)


def test_what_nobody_foresaw_is_logged_and_told_without_details(board, caplog):
    def breaks(visit: Visit) -> Response:
        raise KeyError("the password is 1234")

    with caplog.at_level(logging.ERROR):
        answer = ask(page(board, breaks))
    assert answer.status_code == 500
    assert b"Something went wrong" in answer.body
    assert b"1234" not in answer.body
    assert "1234" in caplog.text


def test_what_the_board_cannot_do_is_told_with_its_status_and_the_next_step(board):
    def busy(visit: Visit) -> Response:
        raise BoardBusy("the board is <busy>", "try again")

    answer = ask(page(board, busy))
    assert answer.status_code == 503
    assert b"the board is &lt;busy&gt;" in answer.body
    assert b"try again" in answer.body
    part = ask(page(board, busy), query=b"part=results")
    assert part.status_code == 503
    assert b"<!doctype" not in part.body


def test_whoever_is_not_known_is_sent_to_sign_in_with_the_way_back(board):
    route = page(board, lambda visit: Response("in"), "off")
    answer = ask(route, query=b"q=a%20b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/ui/sign-in?next=%2Fui%2Fx%3Fq%3Da%2520b"
    assert ask(route, "POST").status_code == 401
    assert ask(route, query=b"part=results").status_code == 401


def test_forms_beyond_measure_are_refused(board):
    route = page(board, lambda visit: Response(visit.form.text("a")))
    assert ask(route, "POST", b"a=one%0D%0Atwo%ff").body == "one\ntwo\ufffd".encode()
    assert ask(route, "POST", b"a=" + b"x" * (4 << 20)).status_code == 413
    assert ask(route, "POST", b"&".join([b"a=b"] * (MOST_FIELDS + 1))).status_code == 400


def test_pages_forbid_what_they_do_not_need(board):
    def told(visit: Visit) -> Response:
        raise BoardBusy

    policy = ask(page(board, told)).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
