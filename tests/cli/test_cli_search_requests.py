"""search: a question with several requests."""

import pytest

from pegboard.cli.answers import NOT_FITTING
from pegboard.search.budget import tokens

REFUND, EMAIL = "mcptools:payments:refund_payment", "mcptools:mail:send_email"
SEVERAL = ("search", "give a customer their money back, then send an e-mail to the recipients")
WORDS = ("search", "refund the payment, then play a xylophone", "--mode", "bm25")
"""Nothing fits the second request: by words alone, a tool must share one."""


def ids(hits):
    return [hit["id"] for hit in hits]


def test_each_request_is_a_heading_above_its_hits(pegboard, board):
    ran = pegboard(*SEVERAL, "--limit", "2")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0] == "Request 1: give a customer their money back"
    assert lines[1].startswith(f" 1. {REFUND}  ")
    second = lines.index("Request 2: send an e-mail to the recipients")
    assert lines[second - 1] == ""
    assert lines[second + 1].startswith(f" 1. {EMAIL}  ")


def test_json_has_the_ids_of_each_request_beside_the_hits(pegboard, board):
    found = pegboard(*SEVERAL, "--json", "--limit", "4").json
    first, second = found["requests"]
    assert first["query"] == "give a customer their money back"
    assert (first["hits"][0], second["hits"][0]) == (REFUND, EMAIL)
    assert ids(found["hits"])[:2] == [REFUND, EMAIL]
    assert {*first["hits"], *second["hits"]} == {*ids(found["hits"])}
    assert found["explanation"] is None


def test_a_question_with_one_request_has_no_requests_in_json(pegboard, board):
    assert "requests" not in pegboard("search", "send a message", "--json").json


def test_a_request_that_nothing_fits_says_so(pegboard, board):
    ran = pegboard(*WORDS)
    assert ran.code == 0
    assert "Request 2: play a xylophone\n    no tool fits this request" in ran.out
    assert pegboard(*WORDS, "--json").json["requests"][1]["hits"] == []


def test_the_nearest_of_a_request_are_shown_on_request(pegboard, board):
    args = (*SEVERAL, "--threshold", "1", "--nearest")
    ran = pegboard(*args)
    assert ran.code == 1
    assert ran.out.count(NOT_FITTING) == 2
    found = pegboard(*args, "--json").json
    assert [ids(each["nearest"])[0] for each in found["requests"]] == [REFUND, EMAIL]


def test_if_nothing_fits_any_request_nothing_is_printed(pegboard, board):
    ran = pegboard(*SEVERAL, "--threshold", "1")
    assert (ran.code, ran.out) == (1, "")
    assert "no tool fits" in ran.err


def test_each_request_is_explained(pegboard, board):
    out = pegboard(*SEVERAL, "--explain").out
    assert "query      give a customer their money back\n" in out
    assert "query      send an e-mail to the recipients\n" in out
    found = pegboard(*SEVERAL, "--explain", "--json").json
    assert [each["explanation"]["query"] for each in found["requests"]] == [
        each["query"] for each in found["requests"]
    ]


def test_for_models_the_requests_are_numbered(pegboard, board):
    lines = pegboard(*SEVERAL, "--compact", "--limit", "2").out.splitlines()
    assert lines[0] == "1. give a customer their money back"
    assert lines[1].startswith(f"{REFUND} (")
    assert "2. send an e-mail to the recipients" in lines


@pytest.mark.parametrize("budget", [60, 100, 200])
def test_headings_count_in_the_budget(pegboard, board, budget):
    args = (*SEVERAL, "--budget-tokens", str(budget))
    ran = pegboard(*args)
    assert 0 < tokens(ran.out) <= budget
    assert pegboard(*args, "--json").json["tokens"] <= budget


def test_what_is_hidden_in_a_request_is_shown(pegboard, board):
    out = pegboard("search", "send a\u202e message, then refund the \x1b[31mpayment").out
    assert "Request 1: send a\\u202e message\n" in out
    assert "Request 2: refund the \\x1b[31mpayment\n" in out
    assert "\u202e" not in out and "\x1b[31mpay" not in out


def test_code_is_for_the_tools_of_all_requests(pegboard, board):
    out = pegboard(*SEVERAL, "--limit", "2", "--output", "python").out
    assert f"| {REFUND} |" in out and f"| {EMAIL} |" in out
