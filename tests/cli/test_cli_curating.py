"""describe, tag, deactivate, activate, delete, history, links and rejections."""

import getpass
import io
import sys

import click
import pytest

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.model.items import CREATED, ItemId

REFUND = "mcptools:payments:refund_payment"
SAID = "Give a customer their money back."


@pytest.fixture(autouse=True)
def logged_in(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "mia")


@pytest.fixture
def linked(pegboard, desk):
    """A project with a skill that uses one of two tools, and one that is not there."""
    tools = desk / ".ai" / "tools" / "mail"
    tools.mkdir(parents=True)
    for name in ("send", "stamp"):
        text = f'def run(to: str):\n    """Does {name} letters."""\n'
        (tools / f"{name}.py").write_text(text, "utf-8")
    skill = desk / ".ai" / "skills" / "letters"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: letters\ndescription: How we write letters.\n"
        "tools: [send, weigh]\n---\n# How\n",
        "utf-8",
    )
    for command in (("init",), ("add", "folder", ".ai", "--no-sync")):
        assert pegboard(*command).code == 0
    return pegboard("sync")


# describe


def test_describe_shows_what_the_source_says(pegboard, board):
    ran = pegboard("description", "refund_payment")
    assert ran.out.splitlines() == [REFUND, "  as its source describes it", "", SAID]


def test_a_description_is_set_shown_found_and_reset(pegboard, board):
    ran = pegboard("description", REFUND, "--set", "Undo a purchase.")
    assert ran.out.splitlines() == [
        *(REFUND, "  described by mia, just now", ""),
        *("Undo a purchase.", "", "Its source says:", SAID),
    ]
    assert pegboard("search", "purchase", "--mode", "bm25").code == 0
    assert pegboard("sync", "--full", "--json").code == 0
    told = pegboard("description", REFUND, "--json").json
    assert told.pop("override_at") > 0
    assert told == {
        "id": REFUND,
        "namespace": "public",
        "description": "Undo a purchase.",
        "description_source": "manual",
        "manual_override": True,
        "override_by": "mia",
        "imported_description": SAID,
    }
    assert pegboard("description", REFUND, "--reset", "--json").json["description"] == SAID
    assert pegboard("search", "purchase", "--mode", "bm25").code == 1
    assert "5 ready, 0 pending" in pegboard("status").out
    assert pegboard("doctor").code == 0


def test_a_description_may_come_from_standard_input(pegboard, board, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("From a pipe.\n"))
    told = pegboard("description", REFUND, "--set", "-", "--by", "ben", "--json").json
    assert (told["description"], told["override_by"]) == ("From a pipe.", "ben")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--set", ""), "the description is empty"),
        (("--set", "x", "--reset"), "do not go together"),
        (("--set", "a\u202eb"), "cannot see"),
    ],
)
def test_a_description_that_cannot_be_taken_is_refused(pegboard, board, args, told):
    ran = pegboard("description", REFUND, *args)
    assert (ran.code, told in ran.err) == (2, True), ran.err


def test_an_item_that_is_not_there_cannot_be_described(pegboard, board):
    ran = pegboard("description", "nothing", "--set", "x")
    assert ran.code == 7
    assert 'pegboard search "..." --state all' in ran.err


# deactivate and activate


def test_an_item_is_switched_off_and_on(pegboard, board):
    ran = pegboard("deactivate", "refund_payment", "--reason", "It is not ready.")
    assert ran.out == f"{REFUND} is switched off\non again with: pegboard activate {REFUND}\n"
    assert pegboard("search", "refund", "--mode", "bm25").code == 1
    assert pegboard("sync").code == 0
    assert pegboard("search", "refund", "--mode", "bm25").code == 1
    assert "switched off by mia just now: It is not ready." in pegboard("show", REFUND).out
    assert pegboard("activate", "refund_payment").code == 7
    told = pegboard("activate", REFUND, "--by", "ben", "--json").json
    assert (told["active"], told["off_at"], told["drift"]) == (True, None, "none")
    assert pegboard("search", "refund", "--mode", "bm25").code == 0
    ran = pegboard("activate", REFUND)
    assert (ran.code, "it is active" in ran.err) == (2, True)


def test_what_is_gone_meanwhile_is_said_when_it_is_switched_on(pegboard, board, tools):
    pegboard("deactivate", REFUND)
    tools.path("payments/refund_payment").unlink()
    pegboard("sync")
    assert "gone from its source" in pegboard("activate", REFUND).out


# tag


def test_tags_are_shown_set_found_and_reset(pegboard, board):
    assert pegboard("tags", REFUND).out.splitlines() == [
        *(REFUND, "  no tags", "  as its source tags it")
    ]
    ran = pegboard("tags", "refund_payment", "--set", "money, undo it")
    assert ran.out.splitlines() == [
        *(REFUND, "  money, undo it", "  tagged by mia, just now; its source says: no tags")
    ]
    assert pegboard("search", "undo", "--mode", "bm25", "--tag", "money").code == 0
    assert pegboard("sync", "--full", "--json").code == 0
    told = pegboard("tags", REFUND, "--json").json
    assert told.pop("tags_override_at") > 0
    assert told == {
        "id": REFUND,
        "namespace": "public",
        "tags": ["money", "undo it"],
        "imported_tags": [],
        "tags_override": True,
        "tags_override_by": "mia",
    }
    [line] = [each for each in pegboard("show", REFUND).out.splitlines() if "  tags " in each]
    assert line.endswith("money, undo it (tagged by mia, just now; its source says: no tags)")
    shown = pegboard("show", REFUND, "--json").json
    assert (shown["item"]["tags"], shown["imported_tags"]) == (["money", "undo it"], [])
    assert (shown["tags_override"], shown["tags_override_by"]) == (True, "mia")
    told = pegboard("tags", REFUND, "--reset", "--by", "ben", "--json").json
    assert (told["tags"], told["tags_override"]) == ([], False)
    assert pegboard("search", "undo", "--mode", "bm25").code == 1
    lines = pegboard("history", REFUND).out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == [
        "reset by ben: tags",
        "tagged by mia: money, undo it",
    ]
    assert "5 ready, 0 pending" in pegboard("status").out
    assert pegboard("doctor").code == 0


def test_an_item_can_be_said_to_have_no_tags(pegboard, board):
    told = pegboard("tags", REFUND, "--set", " ", "--json").json
    assert (told["tags"], told["tags_override"]) == ([], True)
    assert "  no tags\n  tagged by mia" in pegboard("tags", REFUND).out
    assert "none (tagged by mia" in pegboard("show", REFUND).out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--set", "x", "--reset"), "do not go together"),
        (("--set", "a,,b"), "a tag is empty"),
        (("--set", "a\u202eb"), "cannot see"),
        (("--set", ",".join(map(str, range(101)))), "101 entries; at most 100"),
        (("--set", "x" * 2_001), "2,001 characters"),
    ],
)
def test_tags_that_cannot_be_taken_are_refused(pegboard, board, args, told):
    ran = pegboard("tags", REFUND, *args)
    assert (ran.code, told in ran.err) == (2, True), ran.err
    assert pegboard("tags", REFUND, "--json").json["tags_override"] is False


def test_an_item_that_is_not_there_cannot_be_tagged_or_deleted(pegboard, board):
    assert pegboard("tags", "nothing", "--set", "x").code == 7
    assert pegboard("delete", "nothing", "--yes").code == 7


# delete


@pytest.fixture
def made(pegboard, board, desk):
    """A tool that was made on the board; its id."""
    (desk / "fold.py").write_text('def run(sheet: str):\n    """Fold a crane."""\n', "utf-8")
    told = pegboard("create", "fold.py", "--category", "paper", "--anyway", "--json").json
    assert told["state"] == "created", told
    return told["id"]


@pytest.fixture
def terminal(monkeypatch):
    """Somebody who answers."""

    def answer(line):
        typed = io.StringIO(line)
        typed.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", typed)

    return answer


def test_what_was_made_here_is_deleted_and_its_history_says_by_whom(pegboard, made):
    ran = pegboard("delete", made, "--yes", "--by", "ben")
    assert (ran.code, ran.out) == (0, f"removed {made}\n")
    assert pegboard("show", made).code == 7
    assert pegboard("search", "crane", "--mode", "bm25").code == 1
    assert "removed by ben" in pegboard("history", made).out
    assert pegboard("delete", made, "--yes").code == 7
    assert pegboard("doctor").code == 0


def test_whoever_is_at_a_terminal_is_asked(pegboard, made, terminal):
    terminal("n\n")
    ran = pegboard("delete", made)
    assert (ran.code, ran.out) == (0, "nothing was removed\n")
    assert f"Remove {made} for good, with all of its versions?" in ran.err
    terminal("n\n")
    assert pegboard("delete", made, "--json").json["removed"] is False
    terminal("y\n")
    told = pegboard("delete", made, "--json").json
    assert told == {"id": made, "namespace": "public", "removed": True}
    assert pegboard("show", made).code == 7


def test_where_nobody_can_be_asked_nothing_is_deleted(pegboard, made, monkeypatch):
    for nobody in (io.StringIO("y\n"), None):
        monkeypatch.setattr(sys, "stdin", nobody)
        ran = pegboard("delete", made)
        assert (ran.code, "--yes removes it" in ran.err) == (2, True), ran.err
    assert pegboard("show", made).code == 0


def test_what_changes_while_one_is_asked_is_not_deleted(pegboard, made, terminal, monkeypatch):
    terminal("y\n")

    def meanwhile(*_, **__):
        with Pegboard.open() as other:
            other.curate.tag(made, ["mine"], "ben")
        return True

    monkeypatch.setattr(click, "confirm", meanwhile)
    ran = pegboard("delete", made)
    assert (ran.code, "has changed since you looked at it" in ran.err) == (10, True), ran.err
    assert pegboard("tags", made, "--json").json["tags"] == ["mine"]


def test_what_a_source_brings_is_not_deleted_nor_asked_about(pegboard, board, terminal):
    terminal("y\n")
    ran = pegboard("delete", REFUND)
    assert (ran.code, "Remove" in ran.err) == (2, False)
    assert f"pegboard deactivate {REFUND}" in ran.err
    assert pegboard("show", REFUND).code == 0


def test_tags_and_deletion_on_postgres(there, postgres_store):
    made = make_item("fold", id=ItemId("created:paper:fold"), source=CREATED)
    postgres_store.items.put([made], None)
    assert there("tags", made.id, "--set", "money", "--json").json["tags"] == ["money"]
    assert there("delete", made.id, "--yes", "--json").json["removed"] is True
    assert there("show", made.id).code == 7
    assert there("doctor").code == 0


# history


def test_history_has_the_newest_first_and_outlives_the_item(pegboard, board):
    assert (
        pegboard("history", REFUND).out == "nothing is known to have happened to it since it came\n"
    )
    pegboard("deactivate", REFUND, "--reason", "It is not ready.")
    pegboard("activate", REFUND, "--by", "ben")
    pegboard("remove", "tools")
    lines = pegboard("history", REFUND).out.splitlines()
    assert [line.split("  ", 1)[1] for line in lines] == [
        "purged: source tools was removed",
        "activated by ben",
        "deactivated by mia: It is not ready.",
    ]
    told = pegboard("history", REFUND, "--json").json["history"]
    assert [each["event"] for each in told] == ["purged", "activated", "deactivated"]
    assert set(told[0]) == {"namespace", "id", "at", "event", "by", "detail"}
    assert pegboard("history", "nothing").code == 7


def test_each_event_is_one_line_whatever_its_reason_says(pegboard, board):
    pegboard("deactivate", REFUND, "--reason", "Slow.\n2026-01-01 00:00:00  approved by ada")
    [line] = pegboard("history", REFUND).out.splitlines()
    assert line.endswith("deactivated by mia: Slow. 2026-01-01 00:00:00 approved by ada")
    [state] = [each for each in pegboard("show", REFUND).out.splitlines() if "switched off" in each]
    assert state.endswith("just now: Slow. 2026-01-01 00:00:00 approved by ada")


# links


def test_a_sync_tells_of_links_that_lead_nowhere(linked, pegboard):
    assert "1 link leads nowhere; see: pegboard links --unresolved" in linked.out
    ran = pegboard("links", "--unresolved")
    assert ran.out == "skills::letters  uses  weigh\n"
    [told] = pegboard("links", "--unresolved", "--json").json["links"]
    assert (told["id"], told["relation"], told["target"]) == ("skills::letters", "uses", "weigh")


def test_links_are_shown_from_both_ends(linked, pegboard):
    ran = pegboard("links", "letters")
    assert ran.out.splitlines() == [
        "  uses tools:mail:send",
        "  uses weigh, which leads nowhere",
    ]
    assert pegboard("links", "send").out == "  skills::letters uses it\n"
    assert "  skills::letters uses it" in pegboard("show", "send").out
    assert pegboard("show", "send", "--json").json["ties"][0]["id"] == "skills::letters"
    assert pegboard("links", "stamp").out == "it has no links\n"
    assert pegboard("links").code == pegboard("links", "send", "--unresolved").code == 2


def test_tools_are_found_by_the_skill_that_uses_them(linked, pegboard):
    for option in ("--skill", "--linked"):
        ran = pegboard("search", "letters", "--mode", "bm25", option, "letters", "--json")
        assert [hit["id"] for hit in ran.json["hits"]] == ["tools:mail:send"]
    assert pegboard("search", "letters", "--linked", "nothing").code == 7


# rejections


def test_rejections_are_listed_by_source_and_go_when_they_are_put_right(pegboard, board, tools):
    tools.raw("mail/broken", b"def run(:\n")
    pegboard("sync")
    ran = pegboard("rejections")
    assert "tools / mcptools/mail/broken.py" in ran.out
    assert ran.out.endswith("1 refused\n")
    assert pegboard("rejections").out == ran.out
    [told] = pegboard("rejections", "--source", "tools", "--json").json["rejections"]
    assert told["origin"] == "mcptools/mail/broken.py"
    assert told["rejected_at"] > 0
    assert "no source 'other'" in pegboard("rejections", "--source", "other").err
    tools.write("mail/broken", "It is well now.")
    pegboard("sync")
    assert pegboard("rejections", "--json").json["rejections"] == []
