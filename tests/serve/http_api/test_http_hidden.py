"""What a caller may not see is told in the very words of what is not there, by every route."""

import json

import pytest
from http_parts import CALLERS

from hiding import ABSENT, HIDDEN, STRANGERS, hide
from pegboard.serve.http.routes import ROUTES

ELSEWHERE = ("/events", "/mcp", "/metrics")
"""What does not end, speaks another protocol, or counts requests; each has tests of its own."""
BODIES = {
    "CallBody": {"arguments": {}},
    "EditBody": {"tags": ["a"]},
    "SyncBody": {},
    "SearchQuery": {"query": "a secret thing", "threshold": 0},
    "SourceBody": {"kind": "openapi", "url": "http://127.0.0.1:1/"},
    "CreateBody": {"manifest": {"tool_id": "x"}, "namespace": "team"},
    "PublishBody": {"bundle": "UEs=", "signature": ""},
    "YankBody": {"reason": "a secret reason"},
    "DecisionBody": {"deprecated": True},
}


@pytest.fixture
def api(api, monkeypatch):
    for name, caller in STRANGERS.items():
        monkeypatch.setitem(CALLERS, name, caller)
    return api


def asked(route, name):
    path = route.path.replace("{id}", name).replace("{name}", "secret")
    path = path.replace("{version}", "1.0.0")
    named = needed(route) if route.query else []
    query = "?query=a%20secret%20thing&threshold=0" if "query" in named else ""
    query = "?from=1.0.0" if "from" in named else query
    body = BODIES[route.body.__name__] if route.body else None
    return route.method, path + query, body


def needed(route):
    return [name for name, field in route.query.model_fields.items() if field.is_required()]


def without_times(content):
    """What is the same for the same board: not how long it took."""
    found = json.loads(content) if content.startswith(b"{") else content.decode()
    if isinstance(found, dict):
        for name in ("embed_seconds", "search_seconds"):
            found.pop(name, None)
    return json.dumps(found, sort_keys=True)


@pytest.mark.parametrize("who", STRANGERS)
def test_every_answer_is_the_same_with_and_without_what_is_hidden(api, who):
    routes = [route for route in ROUTES if route.role is not None and route.path not in ELSEWHERE]

    def answers():
        found = {}
        for route in routes:
            reply = api.ask(*asked(route, HIDDEN), who=who)
            found[route.name] = (reply.status, without_times(reply.content))
        return found

    before = answers()
    hide(api.board)
    assert api.ask("GET", f"/tools/team%2F{HIDDEN}").status == 200
    for path in ("/changes", "/rejections", "/runs", "/sources"):
        assert "secret" in api.ask("GET", path).content.decode().replace("hidden", "secret")
    after = answers()
    assert {name: after[name] for name in after if after[name] != before[name]} == {}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_hidden_item_is_told_in_the_words_of_one_that_is_absent(api, who):
    hide(api.board)
    for route in (each for each in ROUTES if "{id}" in each.path):
        for prefix in ("", "team%2F"):
            told = [api.ask(*asked(route, prefix + name), who=who) for name in (HIDDEN, ABSENT)]
            assert told[0].status == told[1].status
            said = told[0].content.replace(b"hidden", b"absent")
            assert said == told[1].content, route.name


def test_members_see_it(api):
    hide(api.board)
    for who in ("reader", "author", "admin", "owner"):
        assert api.ask("GET", f"/tools/team%2F{HIDDEN}", who=who).status == 200
        assert HIDDEN in str(api.ask("GET", "/tools?namespace=team", who=who).json)
