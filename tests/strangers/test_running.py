"""Tools that `pegboard mcp` runs: called off, a hundred at once, and orphaned."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from strangers_parts import Desk

from making import seen_below
from waiting import soon, until

WAITS = {
    "tool_id": "wait",
    "tool_type": "bash",
    "category": "time",
    "description": "Wait for longer than anybody does.",
    "executor_config": {"entrypoint": "run.sh"},
}
ADDS = {
    "tool_id": "add",
    "tool_type": "python",
    "category": "sums",
    "description": "Add up two numbers.",
    "parameters": [
        {"name": "one", "type": "integer", "required": True},
        {"name": "two", "type": "integer", "required": True},
    ],
}
CODE = "def run(one, two):\n    print('adding', one)\n    return {'one': one, 'sum': one + two}\n"


def naps(seconds: int) -> str:
    """A script whose processes do not want to end, and can be told by how long they sleep."""
    return (
        f"(trap '' TERM INT HUP; setsid sleep {seconds}; sleep {seconds}) &\n"
        f"trap '' TERM INT\necho begun > $PEGBOARD_OUTPUT/begun\nsleep {seconds}\n"
    )


def sleeping(seconds: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if words[:2] == [b"sleep", str(seconds).encode()]:
                found.append(int(place.name))
    return found


async def create(client: Client, manifest: dict[str, Any], **files: str) -> None:
    named = {name.replace("_", "."): text for name, text in files.items()}
    made = await client.call_tool("create_tool", {"manifest": manifest, "files": named})
    assert made.structured_content["state"] == "created", made


def private_folders(desk: Desk) -> list[Path]:
    return seen_below(desk.environ["HOME"], ".cache/pegboard/runs/**/begun")


@pytest.mark.parametrize("how", ["cancelled", "left"])
def test_a_run_ends_as_a_whole_when_nobody_waits_for_it_any_more(desk, era, how):
    seconds = 90_000 + os.getpid() % 1_000 + len(how)

    async def flow() -> None:
        async with desk.client("--no-watch", era=era) as client:
            await create(client, WAITS, run_sh=naps(seconds))
            call = asyncio.create_task(client.call_tool("call_tool", {"name": "wait"}))
            await soon(lambda: len(sleeping(seconds)) >= 2, "the tool to begin")
            if how == "cancelled":
                call.cancel()
                await soon(lambda: not sleeping(seconds), "the tool to be gone")
                await soon(lambda: not private_folders(desk), "its folder to be gone")
                assert not (await client.call_tool("list_categories", {})).is_error
        await asyncio.gather(call, return_exceptions=True)

    asyncio.run(flow())
    until(lambda: not sleeping(seconds), "the tool to be gone")


def test_a_run_ends_with_the_process_that_serves_it_however_that_dies(desk, start):
    seconds = 91_000 + os.getpid() % 1_000
    served = start("--no-watch")
    served.greet()
    files = {"run.sh": naps(seconds)}
    made = served.call("create_tool", manifest=WAITS, files=files)["structuredContent"]
    assert made["state"] == "created"
    served.begin("tools/call", name="call_tool", arguments={"name": "wait"})
    until(lambda: len(sleeping(seconds)) >= 2, "the tool to begin")
    served.process.kill()
    until(lambda: not sleeping(seconds), "the tool to be gone")
    again = start("--no-watch")
    again.greet()
    again.call("call_tool", name="wait", timeout_seconds=1)  # clears up before it begins
    assert not seen_below("/sys/fs/cgroup", f"**/pegboard-{served.process.pid}-*")
    assert not private_folders(desk)


def servers(desk: Desk) -> list[int]:
    """The processes that serve this desk's board."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            here = (place / "cwd").resolve() == desk.folder.resolve()
            if here and b"pegboard" in words and b"mcp" in words:
                found.append(int(place.name))
    return found


def test_a_hundred_runs_at_once_from_two_agents_are_not_mixed_up_and_leave_nothing(desk, era):
    async def ask(client: Client, number: int) -> tuple[int, Any]:
        given = {"one": number, "two": 1_000}
        result = await client.call_tool("call_tool", {"name": "add", "arguments": given})
        assert not result.is_error, result.content
        assert result.meta["pegboard"]["logs"].split() == ["adding", str(number)]
        return number, result.structured_content

    async def flow() -> None:
        async with (
            desk.client("--no-watch", era=era) as first,
            desk.client("--no-watch", era=era) as second,
        ):
            await create(first, ADDS, main_py=CODE)
            for begin in (0, 100, 200):
                # Each thread that asks the board has it open, and there are only so many.
                before = {pid: open_files(pid) for pid in servers(desk)}
                asked = (
                    ask((first, second)[number % 2], number) for number in range(begin, begin + 100)
                )
                for number, got in await asyncio.gather(*asked):
                    assert got == {"one": number, "sum": number + 1_000}
            for pid, count in before.items():
                await soon(lambda pid=pid: not children(pid), "all processes to be gone")
                assert open_files(pid) <= count + 40  # of fifty runs each

    asyncio.run(flow())


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def children(pid: int) -> str:
    said = []
    for path in seen_below(f"/proc/{pid}/task", "*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended
            said.append(path.read_text())
    return "".join(said).strip()
