"""call_tool: what a tool brings back, how it reports progress, how it is called off."""

import asyncio
import threading
from concurrent.futures import Future

import pytest
from mcp_types import CallToolResult, ElicitResult
from serve_parts import SECONDS, connected, text_of, with_client

from pegboard.app.pegboard import Pegboard
from pegboard.errors import (
    ItemAmbiguous,
    ItemHeld,
    ItemNotFound,
    NotExecutable,
    PegboardError,
)
from pegboard.model.calls import Artifact, CallProgress, CallResult, Confined, Outcome


class Scripted(Pegboard):
    """A real board whose calls end as a test says."""

    question = ""
    mark = ""

    def prepare_call(self, name, arguments, *, timeout_seconds=None, on_progress=None, asker=None):
        assert asker.agent
        self.asked = (name, arguments, timeout_seconds)
        self.on_progress = on_progress
        self.approvals = []
        return self

    def start(self, *, approved, refusal):
        self.approvals.append((approved, refusal))
        self.future = Future()
        self.script(self.future, self.on_progress)
        return self.future

    def returns(self, **fields):
        result = CallResult(**({"outcome": Outcome.OK} | fields))
        self.script = lambda future, on_progress: future.set_result(result)

    def raises(self, error):
        def script(future, on_progress):
            raise error

        self.script = script


@pytest.fixture
def board(board_file):
    with Scripted.open(board_file, create=True) as found:
        found.returns()
        yield found


BLOCKS = (
    {"type": "text", "text": "one", "annotations": {"audience": ["user"], "priority": 0.5}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mimeType": "text/plain"}},
)


def test_a_result_comes_back_as_it_was(board, ask):
    board.returns(content=BLOCKS, structured={"a": [1, {"b": None}]})
    result = ask("call_tool", name="x:y:z", arguments={"q": 1}, timeout_seconds=7)
    assert board.asked == ("x:y:z", {"q": 1}, 7)
    assert not result.is_error
    sent = [block.model_dump(by_alias=True, exclude_none=True) for block in result.content]
    assert sent == list(BLOCKS)
    assert result.structured_content == {"a": [1, {"b": None}]}


def test_a_block_of_an_unknown_kind_comes_back_as_text(board, ask):
    board.returns(content=({"type": "hologram", "data": "é"},))
    assert text_of(ask("call_tool", name="z")) == '{"type":"hologram","data":"é"}'


def test_a_tool_that_says_it_failed_says_so_in_its_own_words(board, ask):
    board.returns(outcome=Outcome.FAILED, content=({"type": "text", "text": "no such city"},))
    result = ask("call_tool", name="z")
    assert (result.is_error, text_of(result)) == (True, "no such city")


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.OK])
def test_a_call_that_did_not_end_well_is_an_error_that_says_why(board, ask, outcome):
    board.returns(outcome=outcome, error="the server did not answer within 60 seconds")
    result = ask("call_tool", name="z")
    assert result.is_error
    assert text_of(result) == "the server did not answer within 60 seconds"


@pytest.mark.parametrize("outcome", Outcome)
def test_a_program_can_tell_how_a_call_ended_whatever_ran_it(board, ask, outcome):
    """What an MCP server, a service or a skill gives has neither a version nor a sandbox."""
    board.returns(outcome=outcome, error="" if outcome is Outcome.OK else "no", seconds=0.5)
    assert ask("call_tool", name="z").meta["pegboard"] == {
        "outcome": outcome.value,
        "version": "",
        "sandbox": None,
        "seconds": 0.5,
        "logs": "",
    }


def test_what_a_server_says_beside_its_result_is_kept(board, ask):
    board.returns(meta={"example.com/trace": [1, {"a": None}]})
    meta = ask("call_tool", name="z").meta
    assert meta["example.com/trace"] == [1, {"a": None}]
    assert meta["pegboard"]["outcome"] == "ok"


def test_a_server_cannot_say_in_our_name_how_a_call_ended(board, ask):
    """It may be another Pegboard, whose own words are kept beside ours."""
    theirs = {"outcome": "ok", "sandbox": "bubblewrap", "error": {"code": "refused"}}
    board.returns(outcome=Outcome.FAILED, error="no", meta={"pegboard": theirs})
    told = ask("call_tool", name="z").meta["pegboard"]
    assert told.pop("upstream") == theirs
    assert (told["outcome"], told["sandbox"], "error" in told) == ("failed", None, False)


@pytest.mark.parametrize(
    "error",
    [
        ItemHeld("z changed since it was approved", "pegboard approve z"),
        NotExecutable("z@1.0.0 cannot be read"),
        ItemAmbiguous("'z' could be any of: a:b:z, c:d:z"),
    ],
)
def test_a_call_that_is_refused_is_a_result_that_an_agent_can_act_on(board, ask, error):
    board.raises(error)
    result = ask("call_tool", name="z")
    assert (result.is_error, text_of(result)) == (True, str(error))


@pytest.mark.parametrize(
    "hint",
    [
        "",
        "look for it: pegboard search z",
        "look for it: pegboard search --tier all",
        "look at it with: pegboard show z",
    ],
)
def test_an_agent_is_not_sent_to_the_command_line_for_a_tool(board, ask, hint):
    board.raises(ItemNotFound("there is no item 'z' on this board", hint))
    result = ask("call_tool", name="z")
    assert text_of(result) == (
        "there is no item 'z' on this board\n  look for it with search_tools"
    )
    assert result.meta["pegboard"]["error"]["hint"] == "look for it with search_tools"


def test_what_only_a_person_can_do_about_a_tool_is_told_to_be_passed_on(board, ask):
    hint = "a person can switch it on: pegboard activate z"
    board.raises(ItemNotFound("z is switched off", hint))
    result = ask("call_tool", name="z")
    assert text_of(result) == f"z is switched off\n  {hint}"
    assert result.meta["pegboard"]["error"]["hint"] == hint


def test_an_agent_that_asks_for_an_unknown_version_is_told_those_there_are(board, ask):
    board.raises(ItemNotFound("z has no version 9.9.9", "it has: 1.0.0, 1.1.0"))
    result = ask("call_tool", name="z@9.9.9")
    assert text_of(result) == "z has no version 9.9.9\n  it has: 1.0.0, 1.1.0"
    assert result.meta["pegboard"]["error"] == {
        "code": "item_not_found",
        "message": "z has no version 9.9.9",
        "hint": "it has: 1.0.0, 1.1.0",
    }


def test_an_error_while_the_call_runs_is_a_result_too(board, ask):
    board.script = lambda future, on_progress: future.set_exception(PegboardError("it broke"))
    assert text_of(ask("call_tool", name="z")) == "it broke"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "name is missing"),
        ({"name": ""}, 'name is ""; it must be text of 1 to 600 characters'),
        ({"name": "z", "arguments": "{}"}, 'arguments is "{}"; it must be an object'),
        ({"name": "z", "timeout_seconds": 0}, "timeout_seconds is 0; it must be a number from 0.1"),
        ({"name": "z", "q": 1}, 'there is no parameter "q"'),
    ],
)
def test_a_call_that_is_badly_put_is_not_made(board, ask, arguments, complaint):
    board.raises(AssertionError("called"))
    result = ask("call_tool", **arguments)
    assert result.is_error
    assert complaint in text_of(result)


def test_progress_reaches_the_caller_in_order_and_before_the_result(board, face, era):
    """One at a time: each is sent when the caller has seen the one before."""
    seen, passed = [], threading.Semaphore(0)

    def script(future, on_progress):
        def work():
            for step in range(5):
                on_progress(CallProgress(step, 5, f"step {step}"))
                assert passed.acquire(timeout=SECONDS)
            on_progress(CallProgress(5))
            future.set_result(CallResult(Outcome.OK))

        threading.Thread(target=work).start()

    async def watch(progress, total, message):
        seen.append((progress, total, message))
        passed.release()

    board.script = script
    result = with_client(
        face,
        lambda c: c.call_tool("call_tool", {"name": "z"}, progress_callback=watch),
        era,
    )
    assert not result.is_error
    assert seen[:5] == [(step, 5, f"step {step}") for step in range(5)]


def test_a_flood_of_progress_is_thinned_but_stays_in_order(board, face, era):
    seen = []

    def script(future, on_progress):
        def work():
            for step in range(10_000):
                on_progress(CallProgress(step))
            future.set_result(CallResult(Outcome.OK))

        threading.Thread(target=work).start()

    async def watch(progress, total, message):
        seen.append(progress)

    board.script = script

    async def work(client):
        await client.call_tool("call_tool", {"name": "z"}, progress_callback=watch)
        await client.call_tool("list_categories", {})

    with_client(face, work, era)
    assert seen == sorted(seen)
    assert 0 < len(seen) < 10_000


def test_without_a_wish_for_progress_none_is_asked_for(board, ask):
    ask("call_tool", name="z")
    assert board.on_progress is None


def test_a_client_that_gives_up_calls_the_tool_off(board, face, era):
    """And the server goes on serving."""
    begun, off = threading.Event(), threading.Event()

    def script(future, on_progress):
        future.add_done_callback(lambda done: off.set() if done.cancelled() else None)
        begun.set()

    board.script = script

    async def work() -> CallToolResult:
        async with connected(face, era) as client:
            call = asyncio.create_task(client.call_tool("call_tool", {"name": "z"}))
            assert await asyncio.to_thread(begun.wait, SECONDS)
            call.cancel()
            assert await asyncio.to_thread(off.wait, SECONDS)
            return await client.call_tool("list_categories", {})

    assert not asyncio.run(work()).is_error


def test_a_client_that_gives_up_while_progress_comes_calls_the_tool_off(board, face, era):
    off = threading.Event()
    seen = asyncio.Event()

    def script(future, on_progress):
        future.add_done_callback(lambda done: off.set() if done.cancelled() else None)
        on_progress(CallProgress(1))

    async def watch(progress, total, message):
        seen.set()

    board.script = script

    async def work() -> None:
        async with connected(face, era) as client:
            call = asyncio.create_task(
                client.call_tool("call_tool", {"name": "z"}, progress_callback=watch)
            )
            await seen.wait()
            call.cancel()
            assert await asyncio.to_thread(off.wait, SECONDS)

    asyncio.run(work())


def test_a_client_that_leaves_calls_its_tools_off(board, face, era):
    begun, off = threading.Event(), threading.Event()

    def script(future, on_progress):
        future.add_done_callback(lambda done: off.set() if done.cancelled() else None)
        begun.set()

    board.script = script

    async def work() -> None:
        async with connected(face, era) as client:
            call = asyncio.create_task(client.call_tool("call_tool", {"name": "z"}))
            assert await asyncio.to_thread(begun.wait, SECONDS)
        await asyncio.gather(call, return_exceptions=True)

    asyncio.run(work())
    assert off.wait(SECONDS)


def test_a_call_that_the_board_calls_off_is_answered(board, ask):
    board.script = lambda future, on_progress: future.cancel()
    result = ask("call_tool", name="z")
    assert result.is_error
    assert "cancelled" in text_of(result)
    assert result.meta["pegboard"]["outcome"] == "killed"


def test_what_a_tool_of_ours_leaves_is_sent_with_the_result(board, ask):
    board.returns(
        content=({"type": "text", "text": "done"},),
        artifacts=(
            Artifact("a b.txt", "text/plain", "é".encode()),
            Artifact("x.bin", "application/octet-stream", b"\xff\x00"),
            Artifact("huge", "text/plain", b"x" * 1_000_001),
        ),
        logs="on the way",
        sandbox=Confined.BUBBLEWRAP,
        version="1.0.0",
        seconds=0.25,
    )
    result = ask("call_tool", name="z")
    said, text, blob, note = result.content
    assert said.text == "done"
    assert (text.resource.text, str(text.resource.uri)) == ("é", "pegboard://output/a%20b.txt")
    assert (blob.resource.blob, blob.resource.mime_type) == ("/wA=", "application/octet-stream")
    assert "it wrote huge, 1,000,001 bytes" in note.text
    assert result.meta["pegboard"] == {
        "outcome": "ok",
        "version": "1.0.0",
        "sandbox": "bubblewrap",
        "seconds": 0.25,
        "logs": "on the way",
    }


def test_logs_are_shown_where_something_went_wrong(board, ask):
    board.returns(outcome=Outcome.FAILED, error="ValueError: no", logs="step 1\nstep 2")
    assert text_of(ask("call_tool", name="z")) == "ValueError: no\nlogs:\nstep 1\nstep 2"


class Person:
    """Somebody in front of the agent's client."""

    def __init__(self, action="accept", **content):
        self.answer = ElicitResult(action=action, content=content or None)
        self.asked = []

    async def __call__(self, context, params):
        self.asked.append(params.message)
        return self.answer


@pytest.mark.parametrize(
    ("person", "approved", "refusal"),
    [
        (Person(approve=True), True, ""),
        (Person(approve=False), False, "a person did not approve it"),
        (Person("decline"), False, "a person did not approve it"),
        (Person("cancel"), False, "a person did not approve it"),
        (Person(approve="false"), False, "a person did not approve it"),
    ],
)
def test_a_person_is_asked_through_the_client(board, face, era, person, approved, refusal):
    board.question, person.asked = "Run z? Consider: it can destroy something.", []
    with_client(
        face,
        lambda c: c.call_tool("call_tool", {"name": "z"}),
        era,
        elicitation_callback=person,
    )
    assert person.asked == [board.question]
    assert board.approvals == [(approved, refusal)]


def test_an_answer_counts_for_one_call_and_not_for_one_that_looks_alike(board, face):
    board.question, board.mark = "Run z? Consider: it can destroy something.", "as it was"
    asked = []

    async def person(context, params):
        asked.append(params.message)
        board.mark = "as it became"  # the tool is another one before the client calls again
        return ElicitResult(action="accept", content={"approve": len(asked) == 1})

    with_client(
        face, lambda c: c.call_tool("call_tool", {"name": "z"}), elicitation_callback=person
    )
    assert asked == [board.question] * 2
    assert board.approvals == [(False, "a person did not approve it")]


def test_where_nobody_can_be_asked_nothing_is_approved(board, ask):
    board.question = "Run z?"
    ask("call_tool", name="z")
    [(approved, refusal)] = board.approvals
    assert not approved
    assert "this client cannot ask a person" in refusal


def test_an_unknown_tool_is_answered_with_those_that_are_here(ask):
    result = ask("serch_tools", query="x")
    assert result.is_error
    assert "there is no tool 'serch_tools' here" in text_of(result)
    assert "call_tool, create_tool, list_categories, list_tools" in text_of(result)


def test_an_error_that_nobody_foresaw_does_not_end_the_server(board, face, era, caplog):
    board.raises(ZeroDivisionError("oops"))

    async def work(client):
        with pytest.raises(Exception, match=r"oops|Internal"):
            await client.call_tool("call_tool", {"name": "z"})
        return await client.call_tool("list_categories", {})

    assert not with_client(face, work, era).is_error
    assert "ZeroDivisionError" in caplog.text
