"""search: what becomes of an answer that does not fit, is too long, or has to be explained."""

import pytest

from pegboard import Pegboard
from pegboard.cli.answers import NOT_FITTING
from pegboard.model.answers import Answer
from pegboard.search.budget import Detail, tell, tokens

VAGUE = ("search", "xylophone concert for colleagues", "--threshold", "1")
MESSAGE = ("search", "send a message")
WITHOUT_REQUESTS = {*Answer._fields} - {"requests"}


def ids(hits):
    return [hit["id"] for hit in hits]


def test_if_no_tool_fits_the_next_steps_are_named_and_the_exit_code_is_1(pegboard, board):
    ran = pegboard(*VAGUE)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "no tool fits: the best fit is below 1.00\n"
        "  --nearest shows the closest, --threshold 0 shows everything\n"
    )


def test_if_no_tool_fits_json_has_no_hits_and_what_comes_nearest(pegboard, board):
    ran = pegboard(*VAGUE, "--json")
    assert (ran.code, ran.json["hits"], ran.err) == (1, [], "")
    assert len(ran.json["nearest"]) == 3


def test_a_threshold_of_0_shows_everything(pegboard, board, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "1")
    assert pegboard(*VAGUE[:2]).code == 1
    assert len(pegboard(*VAGUE[:2], "--threshold", "0", "--json").json["hits"]) == 5


def test_the_threshold_of_the_settings_is_named_as_it_was_written(pegboard, board, monkeypatch):
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0.9995")
    assert "below 0.9995\n" in pegboard(*VAGUE[:2]).err


def test_a_threshold_that_is_no_number_is_wrong_usage(pegboard, board):
    ran = pegboard(*MESSAGE, "--threshold", "nan")
    assert ran.code == 2
    assert "from 0 to 1" in ran.err


@pytest.mark.parametrize("threshold", ["0", "0.3", "0.9", "1"])
def test_a_threshold_means_the_same_in_an_option_and_in_a_setting(
    pegboard, board, monkeypatch, threshold
):
    given = pegboard(*MESSAGE, "--json", "--threshold", threshold)
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", threshold)
    by_setting = pegboard(*MESSAGE, "--json")
    assert by_setting.code == given.code
    assert [hit["id"] for hit in by_setting.json["hits"]] == [
        hit["id"] for hit in given.json["hits"]
    ]


def test_the_nearest_are_shown_on_request_and_marked_as_not_fitting(pegboard, board):
    ran = pegboard(*VAGUE, "--nearest")
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert lines[0] == NOT_FITTING
    assert len([line for line in lines if line.startswith("  - mcptools:")]) == 3
    assert "no tool fits" in ran.err
    assert "--nearest" not in ran.err


def test_the_nearest_stand_apart_from_hits_in_json(pegboard, board):
    ran = pegboard(*VAGUE, "--nearest", "--json")
    assert ran.code == 1
    assert ran.json["hits"] == []
    assert len(ran.json["nearest"]) == 3


def test_if_a_tool_fits_nearest_changes_nothing_but_the_form(pegboard, board):
    assert pegboard(*MESSAGE, "--nearest").out == pegboard(*MESSAGE).out
    found = pegboard(*MESSAGE, "--nearest", "--json").json
    assert found["hits"] == pegboard(*MESSAGE, "--json").json["hits"]
    assert found["nearest"] == []


@pytest.fixture
def look_alikes(pegboard, board, tools):
    for letter in "abc":
        text = "Send a message into a channel for colleagues to read."
        tools.write(f"copies_{letter}/post_message", text)
    assert pegboard("sync").code == 0


def test_look_alikes_stand_behind_the_first_of_them(pegboard, look_alikes):
    ran = pegboard(*MESSAGE, "--diverse", "--json")
    alike = [hit for hit in ran.json["hits"] if hit["like_it"]]
    assert [len(hit["like_it"]) for hit in alike] == [3]
    assert not set(alike[0]["like_it"]) & set(ids(ran.json["hits"]))
    assert "    and 3 like it: mcptools:" in pegboard(*MESSAGE, "--diverse").out
    assert "  and 3 like it\n" in pegboard(*MESSAGE, "--diverse", "--compact").out


def test_look_alikes_are_all_shown_if_nobody_asks(pegboard, look_alikes):
    hits = pegboard(*MESSAGE, "--json").json["hits"]
    assert len([hit for hit in hits if hit["name"] == "post_message"]) == 4
    assert "like it" not in pegboard(*MESSAGE).out


def test_compact_is_one_block_a_hit_without_blank_lines(pegboard, board):
    with Pegboard.open() as opened:
        hits = opened.search("send a message").hits
    ran = pegboard(*MESSAGE, "--compact")
    assert ran.out == "".join(f"{tell(hit, Detail.COMPACT)}\n" for hit in hits)
    assert "" not in ran.out.splitlines()


def test_compact_as_json_has_the_same_texts(pegboard, board):
    found = pegboard(*MESSAGE, "--compact", "--json").json["hits"]
    assert "\n".join(hit["text"] for hit in found) + "\n" == pegboard(*MESSAGE, "--compact").out
    assert {hit["detail"] for hit in found} == {"compact"}


def test_compact_names_a_tool_as_show_takes_it(pegboard, board):
    pegboard("add", "folder", "tools", "--name", "again", "--namespace", "blue")
    pegboard("sync", "again")
    out = pegboard("search", "refund payment", "--compact", "--namespace", "blue").out
    assert pegboard("show", out.split()[0]).code == 0


@pytest.mark.parametrize("budget", [30, 60, 100, 200])
def test_an_answer_keeps_to_its_budget(pegboard, board, budget):
    ran = pegboard(*MESSAGE, "--budget-tokens", str(budget))
    assert ran.code == 0
    assert 0 < tokens(ran.out) <= budget


def test_a_budget_as_json_tells_what_was_spent_and_how_much_of_each_is_told(pegboard, board):
    args = (*MESSAGE, "--budget-tokens", "90")
    found = pegboard(*args, "--json").json
    assert found.keys() == {*WITHOUT_REQUESTS, "budget_tokens", "tokens"}
    assert found["tokens"] <= found["budget_tokens"] == 90
    assert found["hits"][0].keys() == {
        *("id", "namespace", "score", "like_it", "detail", "tokens", "text")
    }
    assert "\n".join(hit["text"] for hit in found["hits"]) + "\n" == pegboard(*args).out


def test_a_budget_too_small_for_anything_still_names_the_best_hit(pegboard, board):
    ran = pegboard(*MESSAGE, "--budget-tokens", "1")
    assert ran.out == f"{pegboard(*MESSAGE, '--json').json['hits'][0]['id']}\n"


def test_the_nearest_keep_to_the_budget_and_are_marked_in_it(pegboard, board):
    ran = pegboard(*VAGUE, "--nearest", "--budget-tokens", "100")
    assert ran.code == 1
    assert ran.out.splitlines()[0] == NOT_FITTING
    assert tokens(ran.out) <= 100


def test_the_nearest_as_json_are_counted_in_the_budget(pegboard, board):
    found = pegboard(*VAGUE, "--nearest", "--budget-tokens", "100", "--json").json
    assert found["hits"] == []
    assert 0 < found["tokens"] <= 100


def test_explain_tells_every_items_way(pegboard, board):
    out = pegboard("search", "refnd the payment", "--explain", "--limit", "1").out
    first = out.partition(" 2. ")[0]
    assert "query      refnd the payment\n" in out
    assert "refnd    unknown, read as “refund”" in out
    assert "payment  known" in out
    assert " 1. mcptools:payments:refund_payment  " in first
    assert "  shown\n" in first
    assert "meaning 0." in first
    assert "fuzzy " in first
    assert "name: payment, refund" in first
    assert "ranker: name covers 'refund', 'payment'" in first
    assert "beyond the limit" in out


def test_explain_as_json_has_the_hits_and_the_explanation(pegboard, board):
    found = pegboard(*MESSAGE, "--explain", "--json").json
    assert found.keys() == WITHOUT_REQUESTS
    assert ids(found["hits"]) == ids(pegboard(*MESSAGE, "--json").json["hits"])
    assert found["explanation"].keys() >= {"query", "words", "weights", "threshold", "items"}


def test_explain_tells_also_why_nothing_fits(pegboard, board):
    ran = pegboard(*VAGUE, "--explain")
    assert ran.code == 1
    assert "below the threshold" in ran.out
    assert "--nearest" not in ran.err


def test_an_empty_query_has_nothing_to_explain(pegboard, board):
    assert pegboard("search", "", "--explain").out == ""
    found = pegboard("search", "", "--explain", "--json")
    assert (found.json["hits"], found.json["explanation"]) == ([], None)


def test_a_search_by_meaning_alone_does_not_call_words_unknown(pegboard, board):
    out = pegboard(*MESSAGE, "--explain", "--mode", "vector").out
    assert "unknown" not in out
    assert "not looked up" in out


@pytest.mark.parametrize("short", [["--compact"], ["--budget-tokens", "50"]])
def test_what_is_for_models_is_not_explained(pegboard, board, short):
    ran = pegboard(*MESSAGE, *short, "--explain")
    assert (ran.code, ran.out) == (2, "")
    assert f"{short[0]} and --explain do not go together" in ran.err
    assert f"leave out {short[0]} or --explain" in ran.err


FORMS = [
    (),
    ("--explain",),
    ("--compact",),
    ("--budget-tokens", "80"),
    ("--nearest", "--diverse"),
    ("--explain", "--nearest", "--diverse"),
    ("--nearest", "--compact", "--diverse", "--budget-tokens", "200"),
]


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
@pytest.mark.parametrize("threshold", ["0", "1"])
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_the_exit_code_says_whether_a_tool_fits_in_every_form(
    pegboard, board, form, threshold, as_json
):
    ran = pegboard(*VAGUE[:2], "--threshold", threshold, *form, *as_json)
    assert ran.code == int(threshold)
    if as_json:
        assert bool(ran.json["hits"] if isinstance(ran.json, dict) else ran.json) == (not ran.code)


@pytest.mark.program
@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_every_form_survives_other_scripts_and_an_ascii_terminal(process, board, tools, form):
    tools.write("chat/überweisung_送金", "Überweise Geld → “送金” 💸 naïve.")
    assert process("sync").code == 0
    ran = process("search", "Geld 送金", *form, PYTHONIOENCODING="ascii", COLUMNS="25")
    assert ran.code == 0, ran.err
    assert "berweisung" in ran.out
    assert "\x1b" not in ran.out
