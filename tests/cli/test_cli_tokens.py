"""The commands for tokens."""

import time

import pytest

from pegboard.cli.shared import login_name

DAY = 86_400


def test_a_token_is_printed_alone_and_once(pegboard, board, sql):
    ran = pegboard("token", "new", "--role", "reader", "--name", "robot")
    assert ran.code == 0
    assert ran.out.startswith("pegb_")
    assert len(ran.out.splitlines()) == 1
    assert "robot: reader of what is public" in ran.err
    assert "shown only now" in ran.err
    assert ran.out.strip() not in pegboard("token", "list", "--json").out
    secret = ran.out.strip().rpartition("_")[2]
    assert secret not in str(sql("SELECT * FROM board_tokens"))


def test_a_token_for_programs_tells_all_about_itself(pegboard, board):
    ran = pegboard(
        *("token", "new", "--role", "author", "--namespace", "team-a", "--namespace", "b/c"),
        *("--name", "ci", "--expires", "12h", "--json"),
    )
    told = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert told.pop("token").startswith(f"pegb_{told['id']}_")
    assert told["expires_at"] == pytest.approx(told["created_at"] + DAY / 2)
    assert (told["name"], told["role"]) == ("ci", "author")
    assert told["namespaces"] == ["team-a", "b/c"]
    assert pegboard("token", "list", "--json").json["tokens"] == [told]


@pytest.mark.parametrize(("said", "days"), [("1h", 1 / 24), ("30d", 30), ("2w", 14)])
def test_how_long_a_token_is_good_can_be_said(pegboard, board, said, days):
    told = pegboard("token", "new", "--role", "reader", "--expires", said, "--json").json
    assert told["expires_at"] == pytest.approx(told["created_at"] + days * DAY)


def test_a_token_is_good_for_ninety_days_unless_somebody_says_otherwise(pegboard, board):
    told = pegboard("token", "new", "--role", "reader", "--json").json
    assert told["expires_at"] == pytest.approx(told["created_at"] + 90 * DAY)
    assert (
        pegboard("token", "new", "--role", "reader", "--expires", "never", "--json").json[
            "expires_at"
        ]
        is None
    )


@pytest.mark.parametrize("said", ["", "0d", "-1d", "90", "d", "9999999d", "1.5d", "1y", "١d"])
def test_a_time_that_means_nothing_is_refused(pegboard, board, said):
    ran = pegboard("token", "new", "--role", "reader", "--expires", said)
    assert (ran.code, ran.out) == (2, "")
    assert "never" in ran.err
    assert pegboard("token", "list", "--json").json["tokens"] == []


def test_the_list_says_whose_tokens_are_and_how_far_they_reach(pegboard, board, sql):
    pegboard("token", "new", "--role", "admin", "--name", "boss")
    pegboard("token", "new", "--role", "author", "--namespace", "a", "--name", "ann")
    pegboard("token", "new", "--role", "reader", "--expires", "never", "--name", "zoe")
    sql(f"UPDATE board_tokens SET expires_at = 100, used_at = {time.time()} WHERE name = 'ann'")
    ann, boss, zoe = pegboard("token", "list").out.splitlines()
    assert "ann: author of a, expired 1970-01-01" in ann
    assert "used just now" in ann
    assert "boss: admin of the whole board, until 20" in boss
    assert "zoe: reader of what is public, until it is revoked; never used" in zoe
    assert [each["expired"] for each in pegboard("token", "list", "--json").json["tokens"]] == [
        True,
        False,
        False,
    ]


def test_without_tokens_the_next_step_is_told(pegboard, board):
    ran = pegboard("token", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "pegboard token new" in ran.err


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_token_is_revoked_by_id_or_name(pegboard, board, by):
    told = pegboard("token", "new", "--role", "reader", "--json").json
    ran = pegboard("token", "revoke", told[by])
    assert (ran.code, ran.out) == (0, "")
    assert told["name"] in ran.err
    assert pegboard("token", "list", "--json").json["tokens"] == []
    again = pegboard("token", "revoke", told[by])
    assert again.code == 2
    assert "pegboard token list" in again.err


REFUSED = {
    "no role": (),
    "an unknown role": ("--role", "god"),
    "no namespace": ("--role", "reader", "--namespace", "A B"),
    "a hidden character": ("--role", "reader", "--name", "a\u200bb"),
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_and_nothing_is_made(pegboard, board, options):
    ran = pegboard("token", "new", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert pegboard("token", "list", "--json").json["tokens"] == []


def test_tokens_of_a_board_in_postgres(pegboard, postgres_url):
    def run(*args):
        return pegboard("token", *args, "--board", postgres_url)

    assert run("new", "--role", "admin", "--name", "boss").code == 0
    assert run("new", "--role", "admin", "--name", "boss").code == 2
    assert [each["name"] for each in run("list", "--json").json["tokens"]] == ["boss"]
    assert run("revoke", "boss").code == 0
    assert run("list", "--json").json["tokens"] == []


def test_without_a_board_there_is_nothing_to_make_a_token_for(pegboard):
    ran = pegboard("token", "new", "--role", "reader")
    assert ran.code == 4
    assert "pegboard init" in ran.err


def test_who_made_and_who_ended_a_token_is_in_the_audit_log(pegboard, board, sql):
    pegboard("token", "new", "--role", "reader", "--name", "robot")
    pegboard("token", "revoke", "robot")
    told = sql("SELECT who, action, detail FROM audit_log ORDER BY key")
    said = ("new reader robot", "revoked robot")
    assert [tuple(row) for row in told] == [(login_name(), "token", each) for each in said]
