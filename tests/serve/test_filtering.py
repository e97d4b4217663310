"""search_tools with filters: what an agent is offered, and that it gets no further."""

import pytest
from serve_parts import text_of, with_client

from pegboard.model.content import Link
from pegboard.model.items import Filters

ORDINARY = {"category", "tag", "kind", "type", "source", "namespace", "skill", "linked"}


@pytest.fixture
def assigned(board):
    """The tools of chat and mail belong to skills."""
    skills = {"chat": ("announce",), "mail": ("announce", "newsletter")}
    entries = board.store.items.page(0, 100)
    board.store.items.put(
        [e.item._replace(skills=skills.get(e.item.category, ())) for e in entries], board.target
    )
    return board


def categories(result):
    return {hit["id"].split(":")[1] for hit in result.structured_content["hits"]}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"skill": "newsletter"}, {"mail"}),
        ({"skill": ["announce", "nothing"]}, {"chat", "mail"}),
        ({"skill": "announce", "category": "chat"}, {"chat"}),
        ({"skill": "newsletter", "category": "chat"}, set()),
    ],
)
def test_the_tools_of_a_skill_can_be_asked_for(assigned, ask, filters, expected):
    assert categories(ask("search_tools", query="send a message", **filters)) == expected


@pytest.mark.parametrize("value", ["nothing", "'", "Mia\0", "\u2028", "x" * 100_000, ""])
def test_a_skill_that_no_tool_has_is_an_empty_answer_with_a_notice(assigned, ask, value):
    result = ask("search_tools", query="send a message", skill=value)
    assert not result.is_error
    assert result.structured_content["hits"] == []
    assert result.structured_content["notices"] == [
        "the filters may leave out what you need; try without them"
    ]
    assert "try without them" in text_of(result)


def test_what_is_linked_with_an_item_can_be_asked_for(board, ask):
    [mail] = board.store.items.named("send_email")
    linking = mail.item._replace(links=(Link("related", "post_message"),))
    board.store.items.put([linking], board.target)
    board.store.curation.resolve_links()
    for name, expected in (("post_message", {"mail"}), (mail.item.id, {"chat"})):
        result = ask("search_tools", query="send a message", threshold=0, linked=name)
        assert categories(result) == expected
    assert ask("search_tools", query="send a message", linked="nothing").is_error


def test_without_a_filter_no_filter_is_blamed(assigned, ask):
    result = ask("search_tools", query="send a message", threshold=1)
    assert not any("filters" in notice for notice in result.structured_content["notices"])


def test_what_an_agent_could_not_use_is_not_offered(face):
    [search, *_] = with_client(face, lambda client: client.list_tools()).tools
    offered = search.input_schema["properties"].keys()
    assert offered >= ORDINARY
    assert not offered & {"author", "protocol", "domain", "sensitivity", "persona", "state"}
    assert not offered & (set(Filters._fields) - ORDINARY)


def test_an_agent_never_finds_what_is_gone(assigned, tools, ask):
    (tools.root / "mcptools" / "mail" / "send_email.py").unlink()
    assigned.sync()
    for skill in ({}, {"skill": "announce"}):
        result = ask("search_tools", query="send an e-mail", mode="bm25", threshold=0, **skill)
        assert "send_email" not in text_of(result)
