import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import wait
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from execute_parts import WAIT, evil, running

from pegboard.errors import ServerUnavailable
from pegboard.execute import mcp
from pegboard.execute.mcp.child import Child
from pegboard.execute.mcp.sessions import Sessions
from pegboard.model.calls import Health, Outcome, ServerConfig, Transport

pytestmark = pytest.mark.server


def test_nothing_is_started_before_it_is_asked_for(pool):
    made = pool(evil("Well"))
    assert made.sessions.states()["Well"].health is Health.UNKNOWN
    assert made.sessions.live() == frozenset()
    assert made.tools("Well")[0] == "echo"
    assert made.sessions.live() == {"Well"}
    state = made.sessions.states()["Well"]
    assert (state.health, state.tools, state.error) == (Health.LIVE, 5, "")
    assert made.heard("Well", Health.LIVE) == state


def test_a_server_that_is_not_there_is_named(pool):
    made = pool()
    with pytest.raises(ServerUnavailable, match="there is no MCP server 'ghost'"):
        made.tools("ghost")
    assert "ghost" in made.call("ghost", "x").error


def test_one_that_is_switched_off_does_not_exist(pool):
    made = pool(evil("Well", enabled=False))
    assert made.call("Well", "echo").outcome is Outcome.UNAVAILABLE


def test_a_missing_command_is_named_with_the_next_step(pool):
    made = pool(ServerConfig("x", Transport.STDIO, command="no-such-command"))
    with pytest.raises(ServerUnavailable, match="there is no command 'no-such-command'") as raised:
        made.tools("x")
    assert "install it" in raised.value.hint


def test_a_missing_folder_is_named(pool, tmp_path):
    made = pool(evil("Well", cwd=str(tmp_path / "gone")))
    with pytest.raises(ServerUnavailable, match="gone' does not exist"):
        made.tools("Well")


def test_a_file_that_is_no_program_is_named(pool, tmp_path):
    made = pool(ServerConfig("x", Transport.STDIO, command=str(tmp_path)))
    with pytest.raises(ServerUnavailable, match="cannot be run: Permission denied"):
        made.tools("x")


def test_a_server_is_given_few_variables_and_its_own(pool):
    made = pool(
        evil("Well", env={"KEY": "${TOKEN}", "PLAIN": "1"}), TOKEN="tok-123", OTHER="x", HOME="/h"
    )
    seen = json.loads(made.said("Well", "environment"))
    assert {"KEY": "tok-123", "PLAIN": "1", "HOME": "/h"}.items() <= seen.items()
    assert not {"OTHER", "TOKEN"} & seen.keys()


def test_no_secret_is_in_the_last_words_of_a_server_or_its_refusal(pool):
    made = pool(
        evil("EndsAtOnce", env={"KEY": "${TOKEN}"}),
        evil("RefusesAll", env={"KEY": "${TOKEN}"}),
        TOKEN="tok-123456",
    )
    for name in ("EndsAtOnce", "RefusesAll"):
        with pytest.raises(ServerUnavailable, match=r"\*\*\*") as raised:
            made.tools(name)
        assert "tok-123456" not in str(raised.value)
        assert "tok-123456" not in made.heard(name, Health.DOWN).error


def test_no_secret_of_a_server_is_in_what_any_part_of_ours_logs(pool, caplog):
    caplog.set_level(logging.DEBUG)
    made = pool(evil("Well", env={"KEY": "${TOKEN}"}), TOKEN="tok-123456")
    made.tools("Well")
    parts = [import_module(f"{mcp.__name__}.{each.name}") for each in iter_modules(mcp.__path__)]
    logs = [part.log for part in parts if hasattr(part, "log")]
    assert logs
    for log in logs:
        log.warning("it said %s", "tok-123456")
    assert caplog.text.count("it said ***") == len(logs)
    assert "tok-123456" not in caplog.text


def test_a_variable_that_is_not_set_keeps_only_its_server_from_starting(pool):
    made = pool(evil("Well", env={"KEY": "${TOKEN}"}), evil("Pages"))
    with pytest.raises(ServerUnavailable, match="MCP server 'Well': the variable TOKEN is not set"):
        made.tools("Well")
    assert made.tools("Pages") == ["t0", "t1", "t2"]


def test_a_server_that_is_killed_is_noticed_and_started_again_by_itself(pool):
    made = pool(evil("Well"))
    first = int(made.said("Well", "pid"))
    os.kill(first, signal.SIGKILL)
    assert "was ended by signal 9" in made.heard("Well", Health.DOWN).error
    assert made.heard("Well", Health.LIVE).tools == 5
    assert made.changes.get(timeout=WAIT) == "Well"
    assert int(made.said("Well", "pid")) != first


def test_a_server_that_ends_in_a_call_by_itself_says_nothing_of_an_error_code(pool):
    ended = pool(evil("Well")).call("Well", "end")
    assert ended.outcome is Outcome.UNAVAILABLE
    assert "ended with exit code 0" in ended.error


def test_a_server_whose_configuration_changes_is_ended_and_started_anew(pool):
    made = pool(evil("Well"), evil("Pages"))
    made.tools("Pages")
    first = int(made.said("Well", "pid"))
    made.sessions.use([evil("Well", env={"NEW": "1"}), evil("Pages")])
    assert made.sessions.live() == {"Pages"}
    assert json.loads(made.said("Well", "environment"))["NEW"] == "1"
    made.sessions.use([])
    assert made.sessions.states() == {}
    made.sessions.close()
    assert not running(first)


def test_the_same_configuration_again_leaves_the_session_alone(pool):
    made = pool(evil("Well"))
    first = made.said("Well", "pid")
    made.sessions.use([evil("Well")])
    assert made.said("Well", "pid") == first


def test_servers_start_side_by_side_up_to_the_limit(pool):
    hanging = [evil("HangsAtStart", f"h{n}", start_seconds=0.5) for n in range(3)]
    made = pool(*hanging, evil("Well"), parallel=4)
    asked = [made.sessions.listing(each.name) for each in hanging]
    assert made.said("Well", "echo", say="x") == "x"
    assert not wait(asked, WAIT).not_done


def test_one_who_waits_for_its_turn_gets_it(pool):
    made = pool(evil("HangsAtStart", start_seconds=0.3), evil("Well"), parallel=1)
    hung = made.sessions.listing("HangsAtStart")
    assert made.tools("Well")[0] == "echo"
    assert isinstance(hung.exception(WAIT), ServerUnavailable)


def test_arguments_that_are_not_json_do_not_end_the_session(pool):
    made = pool(evil("Well"))
    first = made.said("Well", "pid")
    for wrong in ("\ud800", float("nan"), object()):
        result = made.call("Well", "echo", say=wrong)
        assert result.outcome is Outcome.INVALID_ARGUMENTS
        assert "cannot be written as JSON" in result.error
    assert made.said("Well", "pid") == first


def test_progress_arrives_in_order_and_a_listener_that_fails_harms_nobody(pool):
    made = pool(evil("HangsInCall"))
    heard = []
    begun = threading.Event()

    def listen(progress):
        heard.append(progress)
        begun.set()
        raise RuntimeError("a listener")

    call = made.sessions.call("HangsInCall", "hang", {}, on_progress=listen)
    assert begun.wait(WAIT)
    assert heard == [(1.0, 2.0, "half")]
    call.cancel()
    assert made.said("HangsInCall", "echo", say="x") == "x"


def test_listeners_to_servers_that_fail_harm_nobody():
    told = threading.Event()

    def fail(_):
        told.set()
        raise RuntimeError("a listener")

    sessions = Sessions(environ=os.environ, on_state=fail, on_changed=fail)
    sessions.use([evil("Well")])
    assert sessions.listing("Well").result(WAIT).tools
    assert told.wait(WAIT)
    assert sessions.call("Well", "echo", {}).result(WAIT).outcome is Outcome.OK
    sessions.close()


def test_closing_ends_what_is_under_way_and_can_be_done_twice(pool):
    made = pool(evil("HangsInCall"), evil("HangsAtStart"), evil("Well"))
    pid = int(made.said("Well", "pid"))
    begun = threading.Event()
    hung = made.sessions.call("HangsInCall", "hang", {}, on_progress=lambda _: begun.set())
    starting = made.sessions.listing("HangsAtStart")
    assert begun.wait(WAIT)
    made.sessions.close()
    made.sessions.close()
    assert hung.result(0).outcome is Outcome.UNAVAILABLE
    assert "it was closed" in hung.result(0).error
    assert isinstance(starting.exception(0), ServerUnavailable)
    assert not running(pid)
    assert "closing" in made.call("Well", "echo").error
    with pytest.raises(ServerUnavailable, match="closing"):
        made.tools("Well")


def test_a_pool_that_was_never_used_closes():
    Sessions(environ={}, on_state=print, on_changed=print).close()


def test_a_program_that_forgets_to_close_ends_all_the_same():
    program = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from execute_parts import evil\n"
        "from pegboard.execute.mcp.sessions import Sessions\n"
        "s = Sessions(environ=os.environ, on_state=lambda x: 0, on_changed=lambda x: 0)\n"
        "s.use([evil('Well')])\n"
        "assert s.listing('Well').result(20).tools\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", program, here], timeout=WAIT, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_one_who_asks_while_a_dead_server_is_cleared_away_does_not_wait_for_the_pause(
    pool, monkeypatch
):
    monkeypatch.setattr("pegboard.execute.mcp.session.FIRST_PAUSE", 1_000)
    clearing, cleared = threading.Event(), threading.Event()
    stop = Child.stop

    async def stop_later(child):
        clearing.set()
        await asyncio.to_thread(cleared.wait, WAIT)
        await stop(child)

    monkeypatch.setattr(Child, "stop", stop_later)
    made = pool(evil("DiesInCall"))
    died = made.sessions.call("DiesInCall", "die", {})
    assert clearing.wait(WAIT)
    again = made.sessions.call("DiesInCall", "echo", {"say": "back"})
    cleared.set()
    assert died.result(WAIT).outcome is Outcome.UNAVAILABLE
    assert again.result(WAIT).content[0]["text"] == "back"
