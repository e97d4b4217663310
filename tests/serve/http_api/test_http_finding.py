"""Searching and listing: the filters of the commands, pages, and what an item is told as."""

import base64
import json
import re
import typing

import pytest
from http_parts import AI, PYTOOLS

from making import make_item
from pegboard.cli.looking import search as search_command
from pegboard.model.items import Filters, Kind, Mode, ToolType
from pegboard.serve.http.filters import ItemFilters, Kinds, Types
from pegboard.serve.http.searching import SearchQuery

TOOLS = sorted(
    ["gentools:text:count_words"]
    + [f"mcptools:{path.split('/')[1]}:{path.split('/')[2][:-3]}" for path in PYTOOLS][:-1]
    + [f"tools:paper:{path.split('/')[2]}" for path in AI if path.endswith("tool.yaml")]
)


@pytest.fixture
def api(shared_api):
    return shared_api


def ids(found):
    return [each["id"] for each in found.json["items"]]


# Searching.


def test_a_search_finds_what_the_commands_find(api):
    found = api.ask("GET", "/search?query=pay%20money%20back").json
    answer = api.board.search("pay money back", limit=20)
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in answer.hits]
    assert found["hits"][0]["score"] == answer.hits[0].score
    assert "embedding" not in json.dumps(found) and '"vector":[' not in json.dumps(found)


def test_a_long_question_can_be_sent_as_a_body(api):
    asked = {
        "query": "message",
        "kind": ["tool"],
        "category": ["chat"],
        "limit": 1,
        "explain": True,
    }
    by_body = api.ask("POST", "/search", asked).json
    by_query = api.ask(
        "GET", "/search?query=message&kind=tool&category=chat&limit=1&explain=true"
    ).json
    assert by_body["hits"] == by_query["hits"]
    assert by_body["explanation"]["query"] == "message"
    assert by_query["explanation"]["items"] == by_body["explanation"]["items"]


def test_every_filter_and_every_way_to_look_that_the_commands_have_is_here():
    for field in Filters._fields:
        if field not in ("live", "active"):
            values = (Kind.TOOL,) if field == "kinds" else ("python",)
            name = FILTER_NAMES[field]
            asked = ItemFilters(**{name: values if name != "kind" else ("tool",)})
            assert getattr(asked.filters(), field) == values, field
    options = {option.opts[0].removeprefix("--").replace("-", "_") for option in OPTIONS}
    here = {"compact", "budget_tokens", "output", "model", "data_dir", "tier", "gateway"}
    here |= {"token_file", "nearest"}
    there = {"query", "split"}  # the latter is for boards behind a gateway that ask for one thing
    assert options - here == set(SearchQuery.model_fields) - there


FILTER_NAMES = {
    "kinds": "kind",
    "sources": "source",
    "categories": "category",
    "tags": "tag",
    "tool_types": "type",
    "namespaces": "namespace",
    "authors": "author",
    "protocols": "protocol",
    "domains": "domain",
    "semantic_namespaces": "semantic_namespace",
    "sensitivity_tiers": "sensitivity",
    "personas": "persona",
    "skills": "skill",
    "linked": "linked",
}
OPTIONS = [
    each
    for each in search_command.params
    if each.opts[0].startswith("--") and each.name not in ("board", "as_json")
]


def test_the_choices_are_those_that_the_board_knows():
    assert set(typing.get_args(Kinds)) == set(Kind)
    assert set(typing.get_args(Types)) == set(ToolType)
    modes = typing.get_args(SearchQuery.model_fields["mode"].annotation)
    assert set(typing.get_args(modes[0])) == set(Mode)


def test_if_nothing_fits_what_comes_nearest_is_told(api):
    found = api.ask("GET", "/search?query=xylophone%20zebra&threshold=1").json
    assert (found["hits"], len(found["nearest"])) == ([], 3)


def test_a_question_with_several_requests_has_the_hits_of_each(api):
    asked = {"query": "pay money back, then write release notes", "limit": 4}
    found = api.ask("POST", "/search", asked).json
    answer = api.board.search(asked["query"], limit=4)
    assert [each["query"] for each in found["requests"]] == [
        "pay money back",
        "write release notes",
    ]
    assert [each["hits"] for each in found["requests"]] == [
        [hit.id for hit in each.answer.hits] for each in answer.requests
    ]
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in answer.hits]
    whole = api.ask("POST", "/search", asked | {"split": False}).json
    assert "requests" not in whole
    assert whole["hits"] != found["hits"]
    assert "requests" not in api.ask("GET", "/search?query=pay%20money%20back").json


def test_a_request_that_nothing_fits_has_what_comes_nearest(api):
    asked = {"query": "pay money back, then write release notes", "threshold": 1}
    found = api.ask("POST", "/search", asked).json
    assert [len(each["nearest"]) for each in found["requests"]] == [3, 3]
    assert (found["hits"], len(found["nearest"])) == ([], 3)


def test_a_search_for_what_can_be_called_finds_only_that(api):
    found = api.ask("GET", "/search?query=write%20release%20notes&executable=true").json
    assert found["hits"] and {hit["kind"] for hit in found["hits"]} == {"tool"}


@pytest.mark.parametrize("word", ["\0", "'; DROP TABLE items; --", "金", "a" * 200, "%", "\u202e"])
def test_any_text_can_be_asked_for(api, word):
    for mode in Mode:
        assert api.ask("POST", "/search", {"query": word, "mode": mode}).status == 200
    assert api.ask("POST", "/search", {"query": "a", "tag": [word], "author": [word]}).status == 200


# Listing.


def test_all_tools_are_listed_in_the_order_of_their_ids(api):
    found = api.ask("GET", "/tools")
    assert ids(found) == TOOLS
    assert (found.json["next"], "link" in found.headers) == (None, False)
    assert found.json["items"][0]["description"] == "Say how many words a text has."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=skill", ["skills::release-notes"]),
        ("kind=skill&kind=knowledge", ["knowledge::retry", "skills::release-notes"]),
        ("category=chat", [name for name in TOOLS if ":chat:" in name]),
        ("category=chat&category=mail", [n for n in TOOLS if ":chat:" in n or ":mail:" in n]),
        ("tag=paper", ["tools:paper:shred"]),
        ("source=gentools", ["gentools:text:count_words"]),
        ("type=python", [name for name in TOOLS if "tools:paper" not in name]),
        ("type=python&category=paper", []),
        ("namespace=team", []),
        ("author=nobody", []),
        ("skill=release-notes", ["tools:paper:greet"]),
        ("linked=release-notes", ["tools:paper:greet"]),
        ("state=inactive", []),
    ],
)
def test_a_list_is_narrowed_as_a_search_is(api, query, expected):
    assert ids(api.ask("GET", f"/items?{query}")) == expected


def test_tools_are_no_items_of_other_kinds(api):
    assert api.ask("GET", "/tools?kind=skill").code == "usage_error"
    assert ids(api.ask("GET", "/items?kind=tool")) == TOOLS


def test_pages_together_are_the_whole_list(api):
    for limit in (1, 2, 7, 12):
        seen, path = [], f"/items?limit={limit}&state=all"
        while path:
            page = api.ask("GET", path)
            assert len(page.json["items"]) <= limit
            seen += ids(page)
            link = re.fullmatch(r'<(\?[^>]+)>; rel="next"', page.headers.get("link", ""))
            assert bool(link) == (page.json["next"] is not None)
            path = f"/items{link[1]}" if link else ""
        assert seen == ids(api.ask("GET", "/items?state=all"))


def test_a_page_goes_on_where_the_last_one_ended_whatever_came_or_went(api):
    first = api.ask("GET", "/tools?limit=3").json
    after = [each for each in TOOLS if each > first["items"][-1]["id"]]
    item = make_item("aaa_first", id="aaa:first:tool", source="made")
    api.board.store.items.put([item], None)
    try:
        assert ids(api.ask("GET", f"/tools?after={first['next']}")) == after
        rest = api.ask("GET", "/tools").json["items"]
        assert rest[0]["id"] == "aaa:first:tool"
    finally:
        api.board.store.ledger.remove_source(item.source)
    assert ids(api.ask("GET", f"/tools?after={first['next']}")) == after


def test_the_way_on_keeps_what_was_asked_for(api):
    page = api.ask("GET", "/tools?limit=1&category=chat&category=%E9%87%91&state=all")
    link = page.headers["link"]
    assert "category=chat&category=%E9%87%91&state=all&after=" in link


@pytest.mark.parametrize(
    "mark", [b"x", b"\xff", b"[]", b'["a", 1]', rb'["\ud800", "a"]', b"[" * 2_000, b"a" * 5_000]
)
def test_a_mark_that_no_answer_gave_is_refused(api, mark):
    found = api.ask("GET", f"/tools?after={base64.urlsafe_b64encode(mark).decode()}")
    assert (found.status, found.code) == (400, "usage_error")


def test_a_mark_leads_on_even_if_its_item_is_none_that_is_there(api):
    mark = base64.urlsafe_b64encode(json.dumps(["mcptools:\0", "x"]).encode()).decode()
    assert ids(api.ask("GET", f"/tools?after={mark}"))[0].startswith("mcptools:")


def test_categories_are_counted(api):
    found = api.ask("GET", "/categories").json
    assert found["total"] == len(ids(api.ask("GET", "/items")))
    assert {"source": "mcptools", "category": "chat", "items": 2} in found["categories"]


# One item.


def test_an_item_is_told_as_the_commands_tell_it_but_for_the_number_of_its_row(api):
    found = api.ask("GET", "/items/release-notes").json
    assert found["item"]["kind"] == "skill"
    assert found["ties"][0]["id"] == "tools:paper:greet"
    assert found["runs"]["runs"] == 0
    assert found["embedding"]["status"] == "ready"
    assert "key" not in found


def test_files_are_listed_and_told_if_that_is_wanted(api):
    [short, *_] = api.ask("GET", "/tools/greet").json["item"]["version"]["files"]
    assert (short["path"], "content" in short) == ("run.sh", False)
    [whole, *_] = api.ask("GET", "/tools/greet?files=true").json["item"]["version"]["files"]
    assert whole["content"] == AI["tools/paper/greet/run.sh"]
    assert whole["size"] == len(whole["content"])


def test_a_tool_is_no_directive(api):
    found = api.ask("GET", "/tools/deploy")
    assert (found.status, found.code) == (404, "item_not_found")
    assert api.ask("GET", "/items/deploy").status == 200


def test_what_belongs_to_an_item_has_places_of_its_own(api):
    links = api.ask("GET", "/items/deploy/links").json["links"]
    assert [(each["relation"], each["id"]) for each in links] == [("requires", "tools:paper:greet")]
    assert api.ask("GET", "/tools/greet/links").json["links"][0]["outward"] is False
    [version] = api.ask("GET", "/tools/greet/versions").json["versions"]
    assert version["number"].startswith("0.0.0+")
    assert api.ask("GET", "/tools/greet/history").json == {"history": []}
    assert api.ask("GET", "/tools/nothing/history").status == 404


def test_a_name_that_several_have_is_told_with_those_that_have_it(api):
    both = [make_item("twin", category=each, source="made") for each in "ab"]
    api.board.store.items.put(both, None)
    try:
        found = api.ask("GET", "/tools/twin")
        assert (found.status, found.code) == (409, "item_ambiguous")
        assert "mcptools:a:twin" in found.json["detail"]
    finally:
        api.board.store.ledger.remove_source(both[0].source)


def test_an_item_that_is_as_it_was_is_not_sent_again(api):
    tag = api.ask("GET", "/tools/greet").headers["etag"]
    for said in (tag, f"W/{tag}", "*", f'"x", {tag}', f'"x","y" , {tag}'):
        again = api.ask("GET", "/tools/greet", headers={"If-None-Match": said})
        assert (again.status, again.content, again.headers["etag"]) == (304, b"", tag)
    for said in ('"x"', "", "x", '"'):
        assert api.ask("GET", "/tools/greet", headers={"If-None-Match": said}).status == 200
