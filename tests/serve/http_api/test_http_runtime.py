"""Modules for programs: which tools they have, and that they are what is seen by whoever asks."""

import re
from dataclasses import replace
from urllib.parse import quote, urlencode

import pytest
from http_parts import serving

from making import make_item
from pegboard.model.items import ItemId, Kind

HIDDEN = ["text__count_secrets", "text__count_words"]
OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
def api(shared_api):
    return shared_api


def get(api, name="tools.ts", who="owner", headers=None, **query):
    return api.send("GET", f"/runtime/{name}?{urlencode(query, True)}", who=who, headers=headers)


def tools(reply) -> list[str]:
    """The ids that are called, in TypeScript or Python."""
    text = reply.content.decode()
    found = re.findall(r"\bcall\(\"public%2F([^\"]+)\"|_call\('public%2F([^']+)'", text)
    return sorted((a or b).replace("%3A", ":") for a, b in found)


def test_a_module_has_exactly_the_tools_that_are_named(api):
    for name, media in (("tools.ts", "text/typescript"), ("tools.py", "text/x-python")):
        wanted = (
            "mcptools:chat:post_message,text__count_words, greet,public/mcptools:mail:send_email"
        )
        found = get(api, name, filter=wanted)
        assert (found.status, found.headers["content-type"]) == (200, f"{media}; charset=utf-8")
        assert tools(found) == [
            *("gentools:text:count_words", "mcptools:chat:post_message"),
            *("mcptools:mail:send_email", "tools:paper:greet"),
        ]


def test_names_may_come_one_by_one_and_twice(api):
    found = get(api, filter=["greet", "shred,greet"])
    assert tools(found) == ["tools:paper:greet", "tools:paper:shred"]


def test_a_name_that_no_tool_has_is_named(api):
    found = get(api, filter="greet,nobody,chat__nothing")
    assert (found.status, found.code) == (404, "item_not_found")
    assert found.json["detail"] == "there is no tool 'nobody' or 'chat__nothing'"
    # A skill is there, and is no tool.
    assert get(api, filter="release-notes").json["detail"] == "there is no tool 'release-notes'"
    many = get(api, filter=",".join(f"n{n}" for n in range(100))).json["detail"]
    assert many.endswith("'n9' and 90 more")


def test_tools_can_be_searched_for(api):
    found = get(api, query="send a message to colleagues", limit=1)
    assert tools(found) == ["mcptools:chat:post_message"]
    found = get(api, query="message", category="mail")
    assert all(":mail:" in each for each in tools(found))
    nothing = get(api, query="message", category="none")
    assert (nothing.status, tools(nothing)) == (200, [])
    assert b"No tool fits what was asked for." in nothing.content


def test_tools_can_be_chosen_by_what_they_are_like(api):
    assert tools(get(api, category="chat")) == [
        "mcptools:chat:pin_message",
        "mcptools:chat:post_message",
    ]
    assert tools(get(api, source="gentools")) == ["gentools:text:count_words"]
    assert tools(get(api, type="bash", tag="paper")) == ["tools:paper:shred"]


def test_all_tools_are_there_up_to_a_bound_that_is_told(api):
    everything = get(api)
    assert len(tools(everything)) == 9
    assert b"There are more" not in everything.content
    some = get(api, limit=2)
    assert tools(some) == ["gentools:text:count_words", "mcptools:chat:pin_message"]
    assert b"There are more: these are the first 2 tools in the order of ids." in some.content


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"filter": "greet", "query": "x"}, "filter names the tools"),
        ({"filter": "greet", "category": "x"}, "filter names the tools"),
        ({"limit": 0}, "limit"),
        ({"limit": 100_000}, "limit"),
        ({"nonsense": 1}, "nonsense"),
        ({"filter": "," * 600}, "601 names"),
        ({"filter": "x" * 30_000}, "filter"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(api, query, said):
    found = get(api, **query)
    assert (found.status, found.code) == (400, "usage_error")
    assert said in found.json["detail"]


def test_a_module_that_is_the_same_is_not_sent_again(api):
    found = get(api, category="chat")
    etag = found.headers["etag"]
    again = get(api, category="chat", headers={"If-None-Match": etag})
    assert (again.status, again.content, again.headers["etag"]) == (304, b"", etag)
    assert get(api, "tools.py", category="chat", headers={"If-None-Match": etag}).status == 200
    assert get(api, headers={"If-None-Match": etag}).status == 200


def test_calls_go_to_where_the_module_came_from(api):
    assert f'const GATEWAY = "{api.url}";' in get(api).content.decode()
    found = get(api, "tools.py", headers={"Host": "tools.example:99"}).content.decode()
    assert "_GATEWAY = 'http://tools.example:99'" in found
    hostile = get(api, headers={"Host": 'x"; alert(1); "'}).content.decode()
    assert 'x"; alert' not in hostile


def test_calls_go_to_the_public_address_if_there_is_one(board, monkeypatch):
    serve = replace(board.settings.serve, public_url="https://tools.example.com/")
    monkeypatch.setattr(board, "settings", replace(board.settings, serve=serve))
    with serving(board) as api:
        found = get(api, "tools.py").content.decode()
    assert "_GATEWAY = 'https://tools.example.com'" in found


def test_the_document_tells_of_both(api):
    for name in ("tools.ts", "tools.py"):
        told = api.document["paths"][f"/runtime/{name}"]["get"]
        assert {"filter", "query", "category", "source", "limit"} <= {
            each["name"] for each in told["parameters"]
        }


def test_nobody_learns_from_a_module_of_what_they_may_not_see(board):
    def shown(who):
        asked = [{}, {"query": "count words"}, {"category": "text"}, {"source": "gentools"}]
        asked += [{"filter": name} for name in HIDDEN]
        asked += [{"filter": "text__count_words"}, {"limit": 5}]
        return [
            (found.status, found.content)
            for query in asked
            for name in ("tools.ts", "tools.py")
            for found in [get(api, name, who=who, **query)]
        ]

    with serving(board) as api:
        before = {who: shown(who) for who in ("reader", "owner")}
        for place in ("secret", "team"):
            more = [
                make_item(
                    name.partition("__")[2],
                    id=ItemId(f"gentools:text:{name.partition('__')[2]}"),
                    category="text",
                    namespace=place,
                    input_schema=OBJECT,
                    kind=Kind.TOOL,
                )
                for name in HIDDEN
            ]
            board.store.items.put(more, None)
            if place == "secret":
                assert shown("reader") == before["reader"]
                assert shown("owner") != before["owner"]
        assert shown("reader") != before["reader"]
        seen = get(api, filter="team/gentools:text:count_secrets", who="reader")
        assert quote("team/gentools:text:count_secrets", safe="") in seen.content.decode()
        assert get(api, filter="secret/gentools:text:count_secrets", who="reader").status == 404
