"""Each of these servers does something wrong, and beside each a good one goes on working."""

import json
import threading

import pytest
from execute_parts import WAIT, evil, pids, running

from pegboard.errors import ServerUnavailable
from pegboard.model.calls import Health, Outcome
from waiting import in_the_time_it_takes

pytestmark = pytest.mark.server

GOOD = evil("Well", "good")


@pytest.mark.parametrize(
    ("behaviour", "complaint"),
    [
        ("EndsAtOnce", "ended with exit code 3; its last words on stderr: no board for nobody"),
        ("OnlyRubbish", "1,000 lines in a row that are not MCP messages"),
        ("EndlessLine", "a line of more than 32 MB"),
        ("EndlessPages", "more than 100 pages"),
        ("SamePage", "gave the same cursor twice"),
        ("TooMany", "more than 10,000 tools"),
        ("RefusesAll", "it refused: bad key None"),
    ],
)
def test_a_server_that_cannot_be_listed_is_told_apart_and_the_others_go_on(
    pool, behaviour, complaint
):
    made = pool(GOOD, evil(behaviour))
    with pytest.raises(ServerUnavailable, match=behaviour) as raised:
        made.tools(behaviour)
    assert complaint in raised.value.message
    assert raised.value.hint
    assert complaint in made.heard(behaviour, Health.DOWN).error
    assert made.said("good", "echo", say="still here") == "still here"
    assert made.sessions.live() == {"good"}


def test_a_server_that_hangs_at_its_start_is_given_up_after_its_time(pool):
    def attempt(seconds):
        made = pool(GOOD, evil("HangsAtStart", start_seconds=seconds))
        with pytest.raises(ServerUnavailable, match=f"did not answer within {seconds:g} s") as told:
            made.tools("HangsAtStart")
        return made if "thinking about it" in told.value.message else None

    assert in_the_time_it_takes(attempt).said("good", "echo", say="x") == "x"


def test_an_answer_that_cannot_be_read_is_named_when_the_time_is_up(pool):
    def attempt(seconds):
        made = pool(GOOD, evil("TooDeep", start_seconds=seconds))
        with pytest.raises(ServerUnavailable) as told:
            made.tools("TooDeep")
        named = "what it printed last is no MCP message" in told.value.message
        return made if named else None

    assert in_the_time_it_takes(attempt).said("good", "echo", say="x") == "x"


def test_a_server_that_hangs_in_a_call_is_told_that_it_was_cancelled(pool):
    made = pool(evil("HangsInCall"))
    hung = made.sessions.call("HangsInCall", "hang", {}, seconds=0.2).result(WAIT)
    assert hung.outcome is Outcome.TIMEOUT
    assert "did not answer within 0.2 s and was cancelled" in hung.error
    assert hung.seconds >= 0.2
    [cancelled] = json.loads(made.said("HangsInCall", "cancelled"))
    assert cancelled["requestId"]


def test_a_cancelled_future_cancels_the_call_at_the_server(pool):
    made = pool(evil("HangsInCall"))
    begun = threading.Event()
    call = made.sessions.call("HangsInCall", "hang", {}, on_progress=lambda _: begun.set())
    assert begun.wait(WAIT)
    assert call.cancel()
    [cancelled] = json.loads(made.said("HangsInCall", "cancelled"))
    assert cancelled["requestId"]


def test_calls_share_a_session_and_one_that_hangs_holds_up_no_other(pool):
    made = pool(evil("HangsInCall"))
    begun = threading.Event()
    hung = made.sessions.call("HangsInCall", "hang", {}, on_progress=lambda _: begun.set())
    assert begun.wait(WAIT)
    calls = [made.sessions.call("HangsInCall", "echo", {"say": str(n)}) for n in range(50)]
    assert [call.result(WAIT).content[0]["text"] for call in calls] == [str(n) for n in range(50)]
    assert not hung.done()


def test_a_server_that_dies_in_a_call_is_unavailable_with_its_last_words_and_comes_back(pool):
    made = pool(GOOD, evil("DiesInCall"))
    died = made.call("DiesInCall", "die")
    assert died.outcome is Outcome.UNAVAILABLE
    assert "ended with exit code 7; its last words on stderr: out of cheese" in died.error
    assert "out of cheese" in made.heard("DiesInCall", Health.DOWN).error
    assert made.said("DiesInCall", "echo", say="back") == "back"
    assert made.heard("DiesInCall", Health.LIVE)
    assert made.changes.get(timeout=WAIT) == "DiesInCall"
    assert made.said("good", "echo", say="x") == "x"


def test_fifty_megabytes_of_stderr_block_nothing(pool):
    made = pool(evil("FloodsStderr"))
    assert made.said("FloodsStderr", "echo", say="through") == "through"


def test_lines_that_are_no_messages_are_passed_over(pool):
    made = pool(evil("TalksRubbish"))
    assert made.tools("TalksRubbish") == ["echo", "cancelled"]
    assert made.said("TalksRubbish", "echo", say="x") == "x"


def test_a_description_of_ten_megabytes_arrives_whole(pool):
    made = pool(evil("LongDescription"))
    [long] = [
        tool
        for tool in made.sessions.listing("LongDescription").result(WAIT).tools
        if tool["name"] == "long"
    ]
    assert len(long["description"]) == 10 << 20


def test_one_wrong_tool_among_many_does_not_lose_the_others(pool):
    made = pool(evil("OddTools"))
    tools = made.sessions.listing("OddTools").result(WAIT).tools
    names = [tool.get("name") for tool in tools]
    assert names == [
        *("echo", "cancelled", "recursive", "twin", "twin", "numbers", None, "misfit", "rich")
    ]
    assert tools[-1]["_meta"] == {"a": 1}
    assert tools[-1]["icons"] == [{"src": "x.png"}]
    assert tools[-1]["annotations"] == {"title": "R"}
    assert tools[2]["inputSchema"]["properties"] == {"next": {"$ref": "#"}}


def test_what_a_tool_answers_comes_back_as_it_was_written(pool):
    made = pool(evil("OddTools"))
    misfit = made.call("OddTools", "misfit")
    assert misfit.outcome is Outcome.OK
    assert misfit.content[0] == {"type": "hologram", "_meta": {"deep": True}}
    assert misfit.content[1] == {"type": "text", "text": "", "x": 1}
    assert misfit.structured == {"y": 2}
    failed = made.call("OddTools", "twin")
    assert (failed.outcome, failed.content[0]["text"]) == (Outcome.FAILED, "which one?")
    refused = made.call("OddTools", "rich")
    assert (refused.outcome, refused.error) == (Outcome.FAILED, "not today")


def test_all_pages_are_walked(pool):
    made = pool(evil("Pages"))
    assert made.tools("Pages") == ["t0", "t1", "t2"]
    assert made.sessions.listing("Pages").result(WAIT).server == "evil 6.6.6"


def test_a_server_without_tools_has_an_empty_list(pool):
    assert pool(evil("NoTools")).tools("NoTools") == []


def test_a_server_that_speaks_only_the_newest_protocol_is_understood(pool):
    made = pool(evil("NewOnly"))
    assert made.tools("NewOnly") == ["echo", "cancelled"]
    assert made.changes.get(timeout=WAIT) == "NewOnly"
    assert made.said("NewOnly", "echo", say="new") == "new"


def test_a_server_that_ignores_everything_ends_and_so_does_its_child(pool):
    made = pool(evil("Stubborn"), GOOD)
    started = pids(made, "Stubborn")
    assert all(map(running, started))
    made.sessions.close()
    assert not any(map(running, started))


def test_a_child_that_a_server_leaves_behind_ends_with_it(pool):
    made = pool(evil("LeavesChild"))
    started = pids(made, "LeavesChild")
    made.sessions.close()
    assert not any(map(running, started))


def test_a_server_that_does_not_read_holds_up_only_its_own_calls(pool):
    made = pool(evil("Deaf"), GOOD)
    assert made.tools("Deaf") == ["echo", "cancelled"]
    long = {"say": "x" * (1 << 20)}
    calls = [made.sessions.call("Deaf", "echo", long, seconds=0.3) for _ in range(3)]
    assert {call.result(WAIT).outcome for call in calls} == {Outcome.TIMEOUT}
    assert made.said("good", "echo", say="x") == "x"


def test_a_server_whose_list_changes_says_so_once_and_is_listed_again_before_a_call(pool):
    made = pool(evil("Changes"))
    assert made.call("Changes", "changed").outcome is Outcome.UNAVAILABLE
    assert made.said("Changes", "change") == "changed"
    assert made.changes.get(timeout=WAIT) == "Changes"
    gone = made.call("Changes", "change")
    assert gone.outcome is Outcome.UNAVAILABLE
    assert "does not offer 'change' now" in gone.error
    assert made.call("Changes", "changed").outcome is Outcome.OK
    assert made.tools("Changes") == ["echo", "cancelled", "changed"]
    assert made.changes.qsize() <= 1


def test_the_time_of_a_call_runs_while_the_list_of_tools_is_asked_for_again(pool):
    made = pool(evil("ListsOnce", start_seconds=3 * WAIT))
    assert made.said("ListsOnce", "change") == "changed"
    late = made.sessions.call("ListsOnce", "echo", {}, seconds=0.2).result(WAIT)
    assert late.outcome is Outcome.TIMEOUT
    assert "did not list its tools within 0.2 s" in late.error
