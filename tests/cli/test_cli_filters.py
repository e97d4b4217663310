"""search with filters: what is asked for, and what is said when they leave nothing."""

import psycopg
import pytest

SET = {
    "post_message": "author = 'Mia', source_protocol = 'mcp', target_personas = '[\"clerk\"]'",
    "pin_message": "author = 'Ben', routing_domain = 'talk', skills = '[\"release notes\", \"x\"]'",
    "send_email": "semantic_namespace = 'office/post', skills = '[\"x\"]'",
    "search_inbox": "sensitivity_tier = 'high', target_personas = '[\"clerk\", \"boss\"]'",
}


@pytest.fixture
def described(board, sql):
    """The five tools, four of them with what a manifest may say about them."""
    for name, values in SET.items():
        sql(f"UPDATE items SET {values} WHERE name = '{name}'")
    return board


def found(ran):
    return {hit["name"] for hit in ran.json["hits"]}


ASKED = [
    (("--author", "Mia"), {"post_message"}),
    (("--author", "Mia", "--author", "Ben"), {"post_message", "pin_message"}),
    (("--author", ""), {"send_email", "search_inbox", "refund_payment"}),
    (("--protocol", "mcp"), {"post_message"}),
    (("--domain", "talk"), {"pin_message"}),
    (("--semantic-namespace", "office/post"), {"send_email"}),
    (("--sensitivity", "high"), {"search_inbox"}),
    (("--persona", "clerk"), {"post_message", "search_inbox"}),
    (("--persona", "clerk", "--sensitivity", "high"), {"search_inbox"}),
    (("--skill", "x"), {"pin_message", "send_email"}),
    (("--skill", "release notes"), {"pin_message"}),
    (("--skill", "x", "--category", "mail"), {"send_email"}),
]


@pytest.mark.parametrize(("options", "expected"), ASKED)
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_only_such_items_are_found(pegboard, described, options, expected, mode):
    ran = pegboard("search", "send a message to a customer", *options, "--mode", mode, "--json")
    assert found(ran) == expected


HOSTILE = ["'", '"', "'; DROP TABLE items; --", '["Mia"]', "%", "null", "x" * 100_000, "\udcff"]


@pytest.mark.parametrize("option", ["--author", "--skill", "--persona", "--semantic-namespace"])
@pytest.mark.parametrize("value", HOSTILE, ids=[ascii(value)[:20] for value in HOSTILE])
def test_a_value_that_no_item_has_finds_nothing_and_says_so(pegboard, described, option, value):
    ran = pegboard("search", "send a message", option, value)
    assert (ran.code, ran.out) == (1, "")
    assert "nothing found" in ran.err
    assert "perhaps the filters leave nothing; try it without them" in ran.err


def test_thousands_of_values_are_any_of_them(pegboard, described):
    many = [each for n in range(5_000) for each in ("--author", f"nobody {n}")]
    assert found(pegboard("search", "message", *many, "--author", "Ben", "--json")) == {
        "pin_message"
    }


def test_what_is_gone_is_shown_to_those_who_ask_for_it_with_a_note(pegboard, board, tools):
    tools.path("mail/send_email").unlink()
    assert pegboard("sync").code == 0
    search = ("search", "send email", "--json", "--state")
    assert "send_email" not in found(pegboard(*search[:-1]))
    assert "send_email" not in found(pegboard(*search, "active"))
    assert found(pegboard(*search, "inactive")) == {"send_email"}
    assert {"send_email", "post_message"} <= found(pegboard(*search, "all"))
    assert "gone from its source" in pegboard("search", "send email", "--state", "inactive").out


def test_if_nothing_is_inactive_the_filters_are_named_as_the_likely_reason(pegboard, board):
    ran = pegboard("search", "send email", "--state", "inactive")
    assert (ran.code, ran.out) == (1, "")
    assert "perhaps the filters leave nothing" in ran.err


def test_a_state_that_there_is_not_is_refused(pegboard, board):
    ran = pegboard("search", "send email", "--state", "asleep")
    assert ran.code == 2
    assert "'active', 'inactive', 'all'" in ran.err


# The same on a PostgreSQL board.


@pytest.fixture
def labelled(there, postgres_url):
    """The same, with what the filters ask for said of the tools."""
    with psycopg.connect(postgres_url) as connection:
        for name, values in SET.items():
            lists = values.replace("'[", "'{").replace("]'", "}'")
            connection.execute(f"UPDATE items SET {lists} WHERE name = '{name}'".encode())
    return there


def test_on_postgres_only_such_items_are_found(labelled):
    for options, expected in ASKED:
        for mode in ("hybrid", "vector"):
            ran = labelled(
                "search", "send a message to a customer", *options, "--mode", mode, "--json"
            )
            assert found(ran) == expected, (options, mode)


def test_on_postgres_a_value_that_no_item_has_finds_nothing_and_says_so(labelled):
    for value in HOSTILE:
        for option in ("--author", "--skill"):
            ran = labelled("search", "send a message", option, value)
            assert (ran.code, ran.out) == (1, ""), (option, value[:20], ran.err)
            assert "perhaps the filters leave nothing" in ran.err


def test_on_postgres_thousands_of_values_are_any_of_them(labelled):
    many = [each for n in range(5_000) for each in ("--author", f"nobody {n}")]
    assert found(labelled("search", "message", *many, "--author", "Ben", "--json")) == {
        "pin_message"
    }


def test_on_postgres_what_is_gone_is_shown_to_those_who_ask_for_it(labelled, tools):
    tools.path("mail/send_email").unlink()
    assert labelled("sync").code == 0
    search = ("search", "send email", "--json", "--state")
    assert "send_email" not in found(labelled(*search, "active"))
    assert found(labelled(*search, "inactive")) == {"send_email"}
    assert {"send_email", "post_message"} <= found(labelled(*search, "all"))
