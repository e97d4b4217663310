"""search_tools: what an agent asks, and what it gets to read."""

import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serve_parts import text_of, with_client

from making import make_item
from making_hits import hits, make_hit
from pegboard.app.pegboard import Pegboard
from pegboard.board.find.requests import combined
from pegboard.model.answers import Answer
from pegboard.model.calls import Caller, Role
from pegboard.model.items import Filters, Kind
from pegboard.search.budget import tokens
from pegboard.serve.mcp import searching
from pegboard.serve.mcp.face import make_face

REFUND = "mcptools:payments:refund_payment"


def test_a_hit_is_told_as_text_and_as_structure(ask):
    result = ask("search_tools", query="give a customer their money back", limit=1)
    assert not result.is_error
    [hit] = result.structured_content["hits"]
    assert hit["id"] == REFUND
    assert hit["signature"] == "refund_payment(text: string)"
    assert hit["description"] == "Give a customer their money back."
    assert text_of(result).splitlines() == [
        f"{REFUND} ({hit['score']:.2f})",
        "  refund_payment(text: string)",
        "  Give a customer their money back.",
    ]


def test_a_title_is_told_before_the_description_unless_that_begins_with_it():
    hits = (make_hit("a:b:c", title="Mail service"), make_hit("a:b:d", title="Send a mail"))
    told = searching.telling(Answer(hits), (), None)
    jsonschema.validate(told.structured, searching.OUTPUT_SCHEMA)
    assert [each.get("title") for each in told.structured["hits"]] == ["Mail service", None]
    assert told.text.splitlines() == [
        "a:b:c (0.50)",
        "  send(to: string)",
        "  Mail service",
        "  Send a mail.",
        "a:b:d (0.50)",
        "  send(to: string)",
        "  Send a mail.",
    ]


SEVERAL = "give a customer their money back, then send an e-mail to a recipient"


def test_hits_are_grouped_by_the_requests_of_a_query(ask):
    result = ask("search_tools", query=SEVERAL, limit=2)
    found = result.structured_content
    assert [hit["id"] for hit in found["hits"]] == [REFUND, "mcptools:mail:send_email"]
    assert found["requests"] == [
        {"query": "give a customer their money back", "hits": [REFUND]},
        {"query": "send an e-mail to a recipient", "hits": ["mcptools:mail:send_email"]},
    ]
    begins = [line for line in text_of(result).splitlines() if not line.startswith("  ")]
    assert [line.partition(" (")[0] for line in begins] == [
        "1. give a customer their money back",
        REFUND,
        "2. send an e-mail to a recipient",
        "mcptools:mail:send_email",
    ]


def test_a_request_that_nothing_fits_names_the_nearest(ask):
    query = "refund the payment, then play a xylophone"
    result = ask("search_tools", query=query, mode="bm25")
    assert text_of(result).endswith("2. play a xylophone\n  No tool fits.")
    assert result.structured_content["requests"][1] == {"query": "play a xylophone", "hits": []}
    result = ask("search_tools", query=SEVERAL, threshold=1)
    assert text_of(result).startswith("No tool fits. Nearest, though none of them fits:")
    nearest = [each["nearest"][0] for each in result.structured_content["requests"]]
    assert nearest == [REFUND, "mcptools:mail:send_email"]


def test_an_item_that_serves_two_requests_is_told_once():
    hit = make_hit("a:b:c")
    answer = combined(["x", "y"], [Answer((hit,)), Answer((hit,))])
    told = searching.telling(answer, (), None)
    assert told.text.splitlines() == [
        "1. x",
        "a:b:c (0.50)",
        "  send(to: string)",
        "  Send a mail.",
        "2. y",
        "a:b:c",
    ]
    assert [each["hits"] for each in told.structured["requests"]] == [["a:b:c"], ["a:b:c"]]


def test_a_budget_that_leaves_no_room_for_a_request_says_so():
    answer = combined(["x", "y"], [Answer((make_hit("a:b:c"),)), Answer((make_hit("a:b:d"),))])
    told = searching.telling(answer, (), 1)
    assert told.text.endswith("2. y\n  Its hits exceed the token budget.")
    assert [each["hits"] for each in told.structured["requests"]] == [["a:b:c"], []]


def test_the_structure_does_not_repeat_the_long_description(board, tools, face):
    tools.write("mcptools/a/long.py", "Bake some bread.\n\n    " + "And more. " * 500)
    board.sync()
    result = with_client(face, lambda c: c.call_tool("search_tools", {"query": "bake bread"}))
    assert result.structured_content["hits"][0]["description"] == "Bake some bread."
    assert "And more" not in text_of(result)


def test_the_source_can_be_said(ask):
    result = ask("search_tools", query="message words", source="gentools")
    assert [hit["id"] for hit in result.structured_content["hits"]] == ["gentools:text:count_words"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"category": "mail"}, {"mail"}),
        ({"category": ["mail", "chat"]}, {"mail", "chat"}),
        ({"source": "gentools"}, {"text"}),
        ({"kind": ["tool"], "type": "python", "namespace": "public"}, None),
    ],
)
def test_filters_take_one_text_or_several(ask, filters, found):
    result = ask("search_tools", query="send a message, count words", **filters)
    categories = {hit["id"].split(":")[1] for hit in result.structured_content["hits"]}
    assert categories == (found or {"chat", "mail", "payments", "text"})


def test_a_null_counts_as_not_given(ask):
    assert ask("search_tools", query="send", limit=None, tag=None).structured_content["hits"]


def test_no_tool_fits_is_an_answer_that_names_the_nearest(ask):
    result = ask("search_tools", query="send a message", threshold=1)
    assert not result.is_error
    assert result.structured_content["hits"] == []
    assert result.structured_content["nearest"][0]["id"].startswith("mcptools:")
    first, *_, last = text_of(result).splitlines()
    assert first == "No tool fits. Nearest, though none of them fits:"
    assert last.startswith("note: try other words")


def test_a_source_that_does_not_exist_is_named_with_those_that_do(ask):
    result = ask("search_tools", query="send a message", source="githb")
    assert "there is no source 'githb'; there are: gentools, mcptools" in text_of(result)
    assert result.structured_content["notices"]


def nothing_of(board, source):
    """What an agent of this board reads when nothing of a source fits."""
    search = {"query": "zzz", "mode": "bm25", "source": source}
    result = with_client(make_face(board), lambda c: c.call_tool("search_tools", search))
    assert result.structured_content["hits"] == []
    [notice] = result.structured_content["notices"]
    return notice


WITHOUT = "the filters may leave out what you need; try without them"


def test_a_source_is_known_by_its_name_as_by_the_first_part_of_its_ids(board):
    assert {each.name for each in board.sources()} == {"tools"}
    assert nothing_of(board, "tools") == nothing_of(board, "gentools") == WITHOUT


def test_a_source_that_has_nothing_yet_is_known_too(board, tmp_path):
    (tmp_path / "more" / "tools").mkdir(parents=True)
    board.add_folder(tmp_path / "more", name="later")
    assert nothing_of(board, "later") == WITHOUT


def test_a_source_that_a_caller_may_not_see_is_as_if_it_were_not_there(board, tmp_path):
    (tmp_path / "more" / "tools").mkdir(parents=True)
    board.add_folder(tmp_path / "more", name="later", namespace="secret")
    board.store.items.put(
        [make_item("hidden", source="filled", namespace="secret"), make_item("seen")], None
    )
    outsider = board.seen_by(Caller("rob", ("team",), Role.READER))
    member = board.seen_by(Caller("mia", ("secret",), Role.READER))
    assert nothing_of(outsider, "tools") == WITHOUT
    for name in ("later", "filled"):
        said = f"there is no source {name!r}; there are: gentools, mcptools"
        assert nothing_of(outsider, name) == said
        assert nothing_of(member, name) == WITHOUT
        board.within = Filters(namespaces=("public",))
        assert nothing_of(board, name) == said
        board.within = None
        assert nothing_of(board, name) == WITHOUT


def test_what_has_no_category_is_found_by_the_name_that_is_told_for_it(board, ask):
    board.store.items.put([make_item("stray", category="", description="Fold a kite.")], None)
    assert "(none) 1" in text_of(ask("list_categories"))
    for category in ("(none)", "", ["(none)", "mail"]):
        found = ask("search_tools", query="fold a kite", mode="bm25", category=category)
        assert [hit["id"] for hit in found.structured_content["hits"]] == ["mcptools::stray"]
        assert "mcptools::stray" in ask("list_tools", category=category).structured_content["tools"]


def test_where_everything_has_a_category_none_is_said_to_be_missing(ask):
    result = ask("search_tools", query="zzz", mode="bm25", category="(none)")
    assert "there is no category '(none)'; there are: chat, mail" in text_of(result)
    assert "nothing more in (none). There are: chat" in text_of(ask("list_tools", category=""))


def test_an_empty_board_says_so(board_file):
    with Pegboard.open(board_file, create=True) as board:
        result = with_client(
            make_face(board), lambda c: c.call_tool("search_tools", {"query": "anything"})
        )
    assert "the board is empty" in text_of(result)


def test_executable_shows_only_what_can_run_now(ask):
    result = ask("search_tools", query="send a message", executable=True, type="mcp")
    assert result.structured_content["hits"] == []
    assert "try without them" in text_of(result)
    assert ask("search_tools", query="send a message", executable=True).structured_content["hits"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "query is missing; it must be text"),
        ({"query": ""}, 'query is ""; it must be text of 1 to 2,000 characters'),
        ({"query": 7}, "query is 7; it must be text"),
        ({"query": "x", "limit": 0}, "limit is 0; it must be a whole number from 1 to 50"),
        ({"query": "x", "limit": 10**9}, "limit is 1000000000; it must be a whole number"),
        ({"query": "x", "limit": 2.5}, "limit is 2.5"),
        ({"query": "x", "limit": True}, "limit is true"),
        ({"query": "x", "mode": "magic"}, "one of hybrid, bm25, vector, fuzzy"),
        ({"query": "x", "threshold": 2}, "threshold is 2; it must be a number from 0 to 1"),
        ({"query": "x", "kind": "gadget"}, "one of tool, skill, directive, knowledge"),
        ({"query": "x", "type": ["mcp", "exe"]}, "type is 'exe'"),
        ({"query": "x", "category": [1]}, "category is [1]; it must be text or a list"),
        ({"query": "x", "colour": "red"}, 'there is no parameter "colour"'),
        ({"query": "x", "budget_tokens": 0}, "of at least 1"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(ask, arguments, complaint):
    result = ask("search_tools", **arguments)
    assert result.is_error
    assert complaint in text_of(result)


def test_everything_that_is_wrong_is_said_at_once(ask):
    said = text_of(ask("search_tools", limit=0, colour="red"))
    assert "query is missing" in said
    assert "limit is 0" in said
    assert "colour" in said
    assert "search_tools takes: query, mode" in said


def test_what_the_settings_say_is_what_the_schema_calls_default(board_file, tools, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_LIMIT", "2")
    with Pegboard.open(board_file, create=True) as board:
        board.add_folder(tools.root)
        board.sync()

        async def both(client):
            [shown, *_] = (await client.list_tools()).tools
            return shown, await client.call_tool("search_tools", {"query": "send a message"})

        shown, result = with_client(make_face(board), both)
    assert shown.input_schema["properties"]["limit"]["default"] == 2
    assert len(result.structured_content["hits"]) == 2


relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
answers = st.builds(
    lambda found, fits, notices: (
        Answer(hits=tuple(found), notices=tuple(notices))
        if fits
        else Answer(hits=(), nearest=tuple(found[:3]), notices=tuple(notices))
    ),
    st.lists(hits, max_size=6),
    st.booleans(),
    st.lists(st.sampled_from(["by words only", "2 items wait\nfor a worker"]), max_size=2),
)


queries = st.text(max_size=40)
answers |= st.lists(st.tuples(queries, answers), min_size=2, max_size=6).map(
    lambda parts: combined(*zip(*parts, strict=True))
)


@relaxed
@given(answers, st.integers(1, 2_000))
def test_whatever_is_sent_fits_the_budget_unless_it_is_one_name(answer, budget):
    told = searching.telling(answer, answer.notices, budget)
    found = told.structured["hits"] or told.structured.get("nearest", [])
    assert told.cost <= budget or len(found) <= 1
    assert bool(found) == bool(answer.hits or answer.nearest)


@relaxed
@given(answers, st.none() | st.integers(1, 2_000))
def test_the_structure_fits_its_schema_and_is_json(answer, budget):
    told = searching.telling(answer, answer.notices, budget)
    jsonschema.validate(json.loads(json.dumps(told.structured)), searching.OUTPUT_SCHEMA)


@relaxed
@given(answers)
def test_only_hits_notes_and_requests_begin_at_the_margin(answer):
    told = searching.telling(answer, answer.notices, None)
    begins = [line for line in told.text.splitlines() if not line.startswith("  ")]
    found = len(answer.hits or answer.nearest)
    if answer.hits and answer.requests:
        found = sum(1 + len(each.answer.hits) for each in answer.requests)
    assert len(begins) == found + len(answer.notices) + (not answer.hits)


def test_what_to_know_before_calling_stands_with_the_hit():
    hit = make_hit(notes=("its server is down",), kind=Kind.SKILL, like_it=("a:b:c", *"defghi"))
    told = searching.telling(Answer(hits=(hit,)), (), None)
    assert told.text.endswith("\n  note: its server is down")
    [structured] = told.structured["hits"]
    assert structured["notes"] == ["its server is down"]
    assert (structured["kind"], structured["like_it"]) == ("skill", ["a:b:c", *"defg"])


def test_an_answer_has_a_bound_whatever_the_sources_wrote():
    long = make_hit(description="x" * 100_000, signature=f"f({'y' * 100_000})")
    told = searching.telling(Answer(hits=(long,) * 50), (), None)
    assert told.cost < 50 * 2 * tokens("z" * 900)


def test_what_is_no_tool_says_what_it_is_and_where_it_was_found():
    hit = make_hit(kind=Kind.SKILL, signature="", passage="Signatures: Never draw one.")
    told = searching.telling(Answer((hit,)), (), None)
    [structured] = told.structured["hits"]
    assert structured["kind"] == "skill"
    assert structured["passage"] == "Signatures: Never draw one."
    assert "signature" not in structured
    assert "found in: Signatures: Never draw one." in told.text
