"""A search that cannot be answered whole in time is answered in part, and holds up nobody."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gateway_parts import BOUND, Here, fill

from embedding_server import hangs, running_server, well
from waiting import in_the_time_it_takes, until


@pytest.fixture
def service(small_board, monkeypatch):
    """A service that makes the vectors of the board; it may hang later."""
    with running_server() as found:
        for name, value in {
            "PROVIDER": "openai-compatible",
            "BASE_URL": found.url,
            "MODEL": "served",
            "DIMENSION": "64",
            "CACHE": "off",
        }.items():
            monkeypatch.setenv(f"PEGBOARD_EMBED_{name}", value)
        Path(small_board).unlink()
        fill(Path(small_board))
        yield found


def late(open_board, seconds, *legs):
    """What a gateway answered and measured, if it was only these that did not come in time."""
    board = open_board(serve__search_seconds=seconds, serve__requests_per_minute=0)
    with Here(board) as here, here.client() as client:
        found = client.get("/search?query=send+mail")
        told = client.get("/metrics").text
    assert found.status_code == 504
    return (found, told) if found.json().get("answer", {}).get("late") == [*legs] else None


def test_a_model_that_hangs_leaves_504_with_what_words_found(service, open_board):
    service.always = hangs
    found, told = in_the_time_it_takes(lambda seconds: late(open_board, seconds, "vector"))
    service.released.set()
    problem = found.json()
    assert found.headers["content-type"] == "application/problem+json"
    assert problem["code"] == "took_too_long"
    assert problem["answer"]["hits"][0]["id"] == "mcptools:mail:send_mail"
    assert 'pegboard_search_late_legs_total{leg="vector"} 1' in told


def test_searches_that_wait_for_a_model_keep_nobody_else_waiting(service, open_board):
    board = open_board(serve__search_seconds=BOUND, serve__requests_per_minute=0)
    service.always = hangs
    with Here(board) as here, here.client() as client, ThreadPoolExecutor(30) as many:
        waiting = [many.submit(client.get, "/search?query=send+mail") for _ in range(30)]
        until(lambda: len(service.asked) > 4, "the service was asked")
        assert client.get("/metrics").status_code == 200
        assert not any(each.done() for each in waiting)
        service.released.set()
        assert {each.result(BOUND).status_code for each in waiting} == {200}


def test_fifty_searches_that_wait_in_vain_do_not_stop_the_next(service, open_board):
    board = open_board(serve__search_seconds=2.0, serve__requests_per_minute=0)
    service.always = hangs
    with Here(board) as here, here.client() as client, ThreadPoolExecutor(50) as many:
        waiting = [many.submit(client.get, "/search?query=send+mail") for _ in range(50)]
        found = [each.result(BOUND) for each in waiting]
        assert {each.status_code for each in found} <= {504, 200}
        assert all("mcptools:mail:send_mail" in each.text for each in found)
        service.always = well
        service.released.set()
        last = until(lambda: whole(client), "a whole answer")
    assert "vector" in last["hits"][0]["breakdown"]


def whole(client):
    found = client.get("/search?query=send+mail")
    answer = found.json()
    return answer if found.status_code == 200 and not answer["notices"] else None


def test_a_store_that_is_stuck_leaves_504_with_what_meaning_found(open_board):
    def attempt(seconds):
        board = open_board(serve__search_seconds=seconds, serve__requests_per_minute=0)
        release, keyword = threading.Event(), board.store.index.keyword

        def stuck(*args):
            release.wait(BOUND)
            return keyword(*args)

        board.store.index.keyword = stuck
        with Here(board) as here, here.client() as client:
            found = client.get("/search?query=send+mail")
            assert found.status_code == 504
            assert client.get("/metrics").status_code == 200
            release.set()
            until(lambda: client.get("/search?query=send+mail").status_code == 200, "all is well")
        answer = found.json().get("answer", {})
        return answer if answer.get("late") == ["bm25"] else None

    assert in_the_time_it_takes(attempt)["hits"]


def test_when_nothing_of_the_board_comes_back_no_more_is_asked_of_it(open_board, monkeypatch):
    monkeypatch.setattr("pegboard.serve.http.in_time.GRACE_SECONDS", 0.0)
    monkeypatch.setattr("pegboard.serve.threads.MOST_LEFT", 4)
    board = open_board(serve__search_seconds=0.1, serve__requests_per_minute=0)
    release, first_look = threading.Event(), board.store.index.first_look

    def stuck(*args):
        release.wait(BOUND)
        return first_look(*args)

    board.store.index.first_look = stuck
    with Here(board) as here, here.client() as client:
        statuses = [client.get("/search?query=send+mail").status_code for _ in range(8)]
        assert statuses[:4] == [504] * 4
        assert statuses[-1] == 503
        assert client.get("/healthz").status_code == 200
        release.set()
        until(lambda: client.get("/search?query=send+mail").status_code == 200, "it is well again")
