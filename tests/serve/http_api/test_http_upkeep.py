"""Sources, refusals, changes to approve, and embeddings to be made again."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from making import make_item
from pegboard.model.calls import OnChange
from pegboard.model.items import Rejection, ToolType
from pegboard.serve.http import upkeep
from pegboard.text import TEXT_VERSION
from waiting import until

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:1"}],
    "paths": {"/pets": {"get": {"operationId": "listPets", "summary": "List all pets."}}},
}
GREET = "/tools/greet"


@contextmanager
def documents(found):
    """A web server with these documents, by their paths."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            said = found.get(self.path)
            self.send_response(200 if said is not None else 404)
            self.end_headers()
            self.wfile.write(said or b"")

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def web():
    found = {"/openapi.json": json.dumps(PETS).encode(), "/other": b"no document"}
    with documents(found) as url:
        yield url


# Sources.


@pytest.mark.parametrize("path", ["/refresh", "/retry", "/backfill", "/tools/greet/refresh"])
def test_what_takes_nothing_refuses_what_is_said(api, path):
    """It would mean less than whoever says it thinks."""
    for body in ({"source": "tools"}, {}):
        refused = api.ask("POST", path, body)
        assert (refused.status, refused.code) == (400, "usage_error")
        assert "this takes no body" in refused.json["detail"]
    assert api.ask("POST", path).status == 202


def test_a_service_is_added_read_and_removed(api, web):
    said = {"kind": "openapi", "url": f"{web}/openapi.json", "name": "pets"}
    added = api.ask("POST", "/sources", said)
    assert (added.status, added.headers["location"]) == (201, "/sources/pets")
    assert added.json["sync"]["added"] == 1
    assert "pets" in [each["name"] for each in api.ask("GET", "/sources").json["sources"]]
    assert api.ask("GET", "/tools?source=pets").json["items"][0]["name"] == "listPets"
    again = api.ask("POST", "/sources/pets/sync", {"full": True}).json
    assert again["sources"][0]["unchanged"] == 1
    assert api.ask("POST", "/sources/pets/sync").status == 200
    assert api.ask("DELETE", "/sources/pets").status == 204
    assert api.ask("GET", "/tools?source=pets").json["items"] == []
    for method, path in (("DELETE", "/sources/pets"), ("POST", "/sources/pets/sync")):
        assert api.ask(method, path).status == 404
    assert api.board.check() == []


def test_a_source_can_be_added_to_be_read_later(api, web):
    said = {"kind": "openapi", "url": f"{web}/openapi.json", "sync": False}
    added = api.ask("POST", "/sources", said).json
    assert (added["name"], added["sync"], added["synced_at"]) == ("127.0.0.1", None, None)


@pytest.mark.parametrize("kind", ["folder", "command"])
def test_nothing_on_the_gateways_machine_is_added_from_afar(api, kind):
    found = api.ask("POST", "/sources", {"kind": kind, "url": "/etc", "name": "etc"})
    assert (found.status, found.code) == (403, "not_allowed")
    assert "start programs there" in found.json["detail"]
    assert "pegboard add" in found.json["hint"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"url": "/etc/passwd"}, 400),
        ({"url": "file:///etc/passwd"}, 400),
        ({"url": "http://[::1"}, 400),
        ({"url": "http://a:b"}, 400),
        ({"url": "http://"}, 400),
        ({"url": "http://10.0.0.1/openapi.json"}, 403),
        ({"url": "http://169.254.169.254/latest/meta-data"}, 403),
        ({"url": "http://2130706433/"}, 403),
        ({"url": "http://127.0.0.1/${HOME}"}, 400),
        ({"url": "http://user:hunter2@127.0.0.1/"}, 400),
        ({"url": "http://127.0.0.1:1/openapi.json"}, 422),
        ({"url": "http://127.0.0.1/", "name": "created"}, 400),
        ({"url": "http://127.0.0.1/", "name": "No Name"}, 400),
        ({"url": "http://127.0.0.1/", "namespace": "No Namespace"}, 400),
        ({"url": "http://127.0.0.1/", "headers": {"Authorization": "${TOKEN}"}}, 400),
        ({"url": "http://127.0.0.1/", "kind": "mcp"}, 400),
        ({"url": "http://127.0.0.1/\0", "kind": "mcp", "name": "a"}, 400),
        ({"url": "http://no-such-host.invalid/"}, 400),
    ],
)
def test_an_address_that_is_no_good_is_refused(api, said, status):
    found = api.ask("POST", "/sources", {"kind": "openapi"} | said)
    assert found.status == status, found
    assert b"hunter2" not in found.content
    assert len(api.ask("GET", "/sources").json["sources"]) == 2


def test_what_is_no_document_is_refused_with_the_reason(api, web):
    for path in ("/other", "/nothing"):
        found = api.ask("POST", "/sources", {"kind": "openapi", "url": web + path})
        assert (found.status, found.code) == (422, "refused")


@pytest.mark.parametrize("kind", ["openapi", "lightapi"])
@pytest.mark.parametrize("login", ["", "user:hunter2@"])
def test_whoever_adds_what_needs_a_login_is_told_to_do_it_on_the_gateways_machine(
    api, web, kind, login
):
    url = f"{web}/nothing".replace("://", f"://{login}")
    found = api.ask("POST", "/sources", {"kind": kind, "url": url}).json
    assert found["hint"].endswith(f"on the gateway's machine, with: pegboard add {kind} --header")
    assert "give it" not in found["hint"]


def test_an_mcp_server_that_is_down_is_added_and_told_to_be_down(api):
    said = {"kind": "mcp", "url": "http://127.0.0.1:1/mcp", "name": "far", "transport": "http"}
    added = api.ask("POST", "/sources", said)
    assert added.status == 201
    assert "far" in added.json["sync"]["error"]

    def far():
        known = api.ask("GET", "/sources").json["sources"]
        [found] = [each for each in known if each["name"] == "far"]
        return found["kind"], found["server"]["health"], found["server"]["enabled"]

    until(lambda: far() == ("mcp", "down", True))
    again = api.ask("POST", "/sources", {"kind": "openapi"} | {"url": said["url"], "name": "far"})
    assert again.status in (400, 422)


def test_sources_of_the_board_are_for_those_who_may_decide_about_all_of_it(api):
    said = {"kind": "openapi", "url": "http://127.0.0.1:1/", "namespace": "team"}
    assert api.ask("POST", "/sources", said, who="admin").code == "not_allowed"
    assert api.ask("POST", "/sources", said, who="author").code == "not_allowed"
    for method, path in (("DELETE", "/sources/ai"), ("POST", "/sources/ai/sync")):
        assert api.ask(method, path, who="admin").status == 404  # they are not of its namespace
        assert api.ask(method, path, who="author").code == "not_allowed"


def test_what_was_refused_is_told_with_the_reason(api):
    odd = Rejection("ai", "tools/\x1b[2Jodd", "", "bad_manifest", "no \u202e good")
    api.board.store.ledger.reject([odd, odd._replace(source="tools")])
    assert len(api.ask("GET", "/rejections").json["rejections"]) == 2
    [found] = api.ask("GET", "/rejections?source=ai").json["rejections"]
    assert "\x1b" not in found["origin"] and "\u202e" not in found["reason"]


# Changes.


def change(api, description, on_change=OnChange.HOLD):
    item = make_item(
        "ponder",
        id="mcp:deep:ponder",
        source="deep",
        tool_type=ToolType.MCP,
        description=description,
        origin_hash=description,
    )
    api.board.store.items.put([item], api.board.target, on_change=on_change)


def test_a_changed_tool_is_shown_with_its_differences_and_approved(api):
    for description in ("Think.", "Think twice."):
        change(api, description)
    [found] = api.ask("GET", "/changes").json["changes"]
    assert (found["id"], found["held"]) == ("mcp:deep:ponder", True)
    assert "-Think." in found["diff"] and "+Think twice." in found["diff"]
    assert found["exactly"].startswith("mcp:deep:ponder@")
    assert api.ask("GET", "/search?query=think").json["hits"][0]["id"] != "mcp:deep:ponder"
    stale = found["exactly"]
    change(api, "Think three times.")
    assert api.ask("POST", f"/tools/{stale}/approve").status == 404
    assert api.ask("POST", "/tools/mcp:deep:ponder/approve", who="admin").status == 403
    assert api.ask("POST", "/tools/mcp:deep:ponder/approve").json == {"approved": 1}
    assert api.ask("GET", "/changes").json == {"changes": []}
    assert api.ask("GET", "/search?query=think").json["hits"][0]["id"] == "mcp:deep:ponder"
    [last, *_] = api.ask("GET", "/tools/mcp:deep:ponder/history").json["history"]
    assert (last["event"], last["by"]) == ("approved", "olga")


def test_a_tool_that_is_held_back_is_not_called(api):
    for description in ("Think.", "Think twice."):
        change(api, description)
    found = api.ask("POST", "/tools/mcp:deep:ponder/call", {}, who="owner")
    assert (found.status, found.code) == (409, "item_held")


# Embeddings.


def test_an_embedding_is_made_again_when_somebody_asks(api):
    assert api.ask("POST", f"{GREET}/refresh").json == {"queued": 1}
    assert api.ask("GET", "/status").json["waiting"] == 1
    api.board.backfill()
    assert api.ask("POST", f"{GREET}/retry").json == {"queued": 0}
    api.ask("PATCH", "/tools/greet", {"active": False})
    assert api.ask("POST", "/tools/tools:paper:greet/refresh").json == {"queued": 0}


def test_all_embeddings_are_queued_and_counted(api):
    total = api.ask("GET", "/status").json["embeddings"]["total"]
    found = api.ask("POST", "/refresh").json
    assert (found["running"], found["queued"], found["waiting"]) == (False, total, total)
    api.board.backfill()
    assert api.ask("POST", "/retry").json["queued"] == 0
    found = api.ask("POST", "/backfill").json
    assert (found["waiting"], found["embeddings"]["ready"]) == (0, total)


def test_only_one_queueing_goes_on_and_nobody_waits_long_for_it(api, monkeypatch):
    begun, go_on, calls = threading.Event(), threading.Event(), []

    def slow(self, **how):
        calls.append(how)
        begun.set()
        go_on.wait(30)

    monkeypatch.setattr(upkeep, "QUEUE_SECONDS", 0.05)
    monkeypatch.setattr(type(api.board), "backfill", slow)
    for _ in range(3):
        assert api.ask("POST", "/backfill").json["running"] is True
    assert begun.is_set() and len(calls) == 1
    go_on.set()
    until(lambda: api.ask("POST", "/backfill").json["running"] is False)


def test_upkeep_of_the_whole_board_is_for_whoever_has_all_of_it(api):
    for path in ("/refresh", "/retry", "/backfill"):
        assert api.ask("POST", path, who="admin").code == "not_allowed"


def test_the_status_tells_sizes_and_places_only_to_those_who_have_the_whole_board(api):
    assert "board" in api.ask("GET", "/status").json["facts"]
    told = api.ask("GET", "/status", who="reader")
    assert told.json["facts"] == {}
    assert told.json["model"] == f"test/hashed-ngrams/256/{TEXT_VERSION}"
