"""What goes on while nobody waits for it is begun once, by the page or by a program."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from http_parts import Served, serving

from pegboard.serve.http import upkeep
from pegboard.serve.http.jobs import Jobs
from waiting import until

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def api(board):
    with serving(board, page=True) as served:
        yield served


def press(api: Served, path: str, form: str) -> None:
    """As a button of the page does."""
    said = api.send("POST", path, raw=form.encode(), headers=FORM)
    assert (said.status, said.headers["location"].partition("?")[0]) == (303, path)


class Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.begun = list[tuple[object, ...]]()
        self.let_go = threading.Event()

    def __call__(self, *said: object, **how: object) -> None:
        self.begun.append(said)
        assert self.let_go.wait(30)


@pytest.fixture
def held(api):
    found = Held()
    yield found
    found.let_go.set()


@pytest.mark.parametrize("name", ["backfill", "refresh", "retry"])
def test_the_page_and_a_program_begin_the_same_work_once(api, held, monkeypatch, name):
    monkeypatch.setattr(upkeep, "QUEUE_SECONDS", 0.05)
    monkeypatch.setattr(type(api.board), name, held)
    press(api, "/ui/status", f"do={name}")
    press(api, "/ui/status", f"do={name}")
    assert api.ask("POST", f"/{name}").json["running"] is True
    assert len(held.begun) == 1
    held.let_go.set()
    until(lambda: api.ask("POST", f"/{name}").json["running"] is False)


def test_what_the_page_began_is_told_to_a_program_that_asks_for_the_same(api):
    total = api.ask("GET", "/status").json["embeddings"]["total"]
    press(api, "/ui/status", "do=refresh")
    found = api.ask("POST", "/refresh").json
    assert (found["running"], found["queued"]) == (False, total)


def test_a_source_is_read_by_one_at_a_time(api, held, monkeypatch):
    monkeypatch.setattr(type(api.board), "sync", held)
    press(api, "/ui/sources", "name=tools")
    until(lambda: held.begun)
    press(api, "/ui/sources", "name=tools")
    press(api, "/ui/sources", "name=ai")
    until(lambda: len(held.begun) == 2)
    assert held.begun == [(["tools"],), (["ai"],)]


def test_a_program_that_wants_a_source_read_gets_what_is_there_by_then(api, held, monkeypatch):
    """So it does not take what was begun before it asked, and does not read beside it either."""
    read = type(api.board).sync
    monkeypatch.setattr(type(api.board), "sync", held)
    press(api, "/ui/sources", "name=tools")
    until(lambda: held.begun)
    alone, waits, wait = list[bool](), threading.Event(), Jobs.alone

    async def noted(*said):
        waits.set()
        return await wait(*said)

    def then(board, *said, **how):
        alone.append(held.let_go.is_set())
        return read(board, *said, **how)

    monkeypatch.setattr(Jobs, "alone", noted)
    monkeypatch.setattr(type(api.board), "sync", then)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(api.ask, "POST", "/sources/tools/sync")
        until(waits.is_set)
        assert api.ask("GET", "/status").status == 200
        held.let_go.set()
        assert asked.result(30).json["sources"][0]["unchanged"] > 0
    assert alone == [True]


def test_work_that_fails_is_logged_and_can_be_begun_again(api, monkeypatch, caplog):
    def fails(board, *said, **how):
        raise KeyError("the reactor")

    with monkeypatch.context() as patched:
        patched.setattr(type(api.board), "retry", fails)
        press(api, "/ui/status", "do=retry")
        until(lambda: "retry" in caplog.text)
    assert "the reactor" in caplog.text
    assert api.ask("POST", "/retry").json["queued"] == 0
