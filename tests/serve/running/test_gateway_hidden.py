"""What a caller may not see is told by MCP and by the page as what is not there."""

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest
from gateway_parts import BOUND, Here, Tokens
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from hiding import ABSENT, HIDDEN, STRANGERS, hide
from pegboard.model.calls import Caller

MEMBER = Caller("mia", ("team",))
SEEN = "mcptools:mail:send_mail"
MODES = ("hybrid", "bm25", "vector", "fuzzy")
TIMES = re.compile(
    r'"(embed|search)_seconds": [\d.e-]+|\b[\d.]+ (ms|s|KB|MB)\b|<dt>Pace</dt><dd>[^<]*'
)
"""What differs from one answer to the next, whatever is on the board."""


@pytest.fixture
def here(open_board):
    tokens = {f"t{number}": caller for number, caller in enumerate(STRANGERS.values())}
    board = open_board(serve__requests_per_minute=0)
    with Here(board, Tokens(member=MEMBER, **tokens)) as found:
        yield found


@pytest.fixture(params=enumerate(STRANGERS), ids=lambda each: each[1])
def token(request):
    return f"t{request.param[0]}"


def calls(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Every tool of the face for agents, with this item wherever one can be named."""
    searches = [{"query": "a secret thing hidden", "mode": mode, "limit": 50} for mode in MODES]
    misspelt = [{"query": "secrit hiden", "mode": mode} for mode in MODES]
    return [
        *(("search_tools", each) for each in (*searches, *misspelt)),
        *(("describe_tool", {"name": f"{prefix}{name}"}) for prefix in ("", "team/")),
        *(("call_tool", {"name": f"{prefix}{name}", "arguments": {}}) for prefix in ("", "team/")),
        ("list_categories", {}),
        ("list_tools", {"category": "mail"}),
        ("list_tools", {}),
    ]


def by_mcp(here: Here, token: str, name: str) -> dict[str, str]:
    """What an agent is told, by what it asked."""

    async def work() -> dict[str, str]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            asyncio.timeout(BOUND),
            httpx2.AsyncClient(headers=headers, timeout=BOUND) as http,
            Client(streamable_http_client(f"{here.url}/mcp", http_client=http)) as client,
        ):
            found = {"tools": (await client.list_tools()).model_dump_json()}
            for tool, arguments in calls(name):
                told = (await client.call_tool(tool, arguments)).model_dump(mode="json")
                said = TIMES.sub("", json.dumps(told).replace('\\"', '"'))
                found[f"{tool} {arguments}"] = said
            return found

    return asyncio.run(work())


ACTIONS = (
    *("activate", "deactivate", "describe", "reset", "tag", "reset-tags", "remove"),
    *("refresh", "retry", "call", "unheard-of"),
)
PAGES = (
    "/ui/",
    *(f"/ui/?query=a+secret+thing+hidden&mode={mode}&explain=on" for mode in MODES),
    "/ui/?query=secrit+hiden",
    "/ui/?query=thing&namespace=team",
    "/ui/?query=thing&source=secret",
    "/ui/items/{name}",
    "/ui/items/team/{name}",
    "/ui/items/team%2F{name}",
    "/ui/categories",
    "/ui/categories?category=mail",
    "/ui/sources",
    "/ui/rejections",
    "/ui/rejections?source=secret",
    "/ui/changes",
    "/ui/status",
)


def by_page(here: Here, token: str, name: str) -> dict[str, tuple[int, str]]:
    """What a person is shown, by address, whole and in the parts that a script asks for."""
    found = {}
    with here.client(token) as client:
        for page in PAGES:
            path = page.format(name=name)
            for each in (path, f"{path}{'&' if '?' in path else '?'}part=results"):
                answer = client.get(each)
                found[each] = (answer.status_code, TIMES.sub("", answer.text))
        for path in (f"/ui/items/{name}", f"/ui/items/team/{name}"):
            for action in ACTIONS:
                form = {"do": action, "description": "mine", "tags": "mine", "arguments": "{}"}
                answer = client.post(path, data=form, headers={"Origin": here.url})
                found[f"{path} {action}"] = (answer.status_code, answer.text)
    return found


def differing(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        asked: (before[asked], after[asked]) for asked in after if after[asked] != before[asked]
    }


def test_an_agent_is_told_the_same_with_and_without_what_is_hidden(here, token):
    before = by_mcp(here, token, HIDDEN)
    hide(here.gateway.board)
    assert differing(before, by_mcp(here, token, HIDDEN)) == {}


def test_to_an_agent_what_is_hidden_is_absent(here, token):
    hide(here.gateway.board)
    hidden, absent = (by_mcp(here, token, each) for each in (HIDDEN, ABSENT))
    told = {
        asked.replace("mail:hidden", "mail:absent"): said.replace("mail:hidden", "mail:absent")
        for asked, said in hidden.items()
    }
    assert differing(absent, told) == {}


def test_a_person_is_shown_the_same_with_and_without_what_is_hidden(here, token):
    before = by_page(here, token, HIDDEN)
    hide(here.gateway.board)
    assert differing(before, by_page(here, token, HIDDEN)) == {}


def test_on_the_page_what_is_hidden_is_absent(here, token):
    hide(here.gateway.board)
    hidden, absent = (by_page(here, token, each) for each in (HIDDEN, ABSENT))
    for asked, (status, text) in absent.items():
        found = hidden[asked.replace("mail:absent", "mail:hidden")]
        assert (found[0], found[1].replace("mail:hidden", "mail:absent")) == (status, text), asked


def test_a_member_is_told_and_shown(here):
    """So that the others are not alike only because nothing is ever told."""
    before = by_mcp(here, "member", HIDDEN), by_page(here, "member", HIDDEN)
    hide(here.gateway.board)
    after = by_mcp(here, "member", HIDDEN), by_page(here, "member", HIDDEN)
    told = {asked.split()[0] for asked in differing(before[0], after[0])}
    assert told >= {"search_tools", "describe_tool", "call_tool", "list_categories", "list_tools"}
    shown = differing(before[1], after[1])
    for page in PAGES:
        if page not in ("/ui/categories?category=mail",):
            assert page.format(name=HIDDEN) in shown, page
    assert by_page(here, "member", SEEN)[f"/ui/items/{SEEN}"][0] == 200
