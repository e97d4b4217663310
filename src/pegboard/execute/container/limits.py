"""A container held to its limits: stopped when it runs too long or writes too much."""

import asyncio
from pathlib import Path

import anyio

from pegboard.execute.container.wanted import Ended, Heard, Stopped, Wanted, Way
from pegboard.execute.job import Limits
from pegboard.execute.room import MAX_FILES, size_of
from pegboard.model.calls import Outcome

LOOK = 0.1


async def held(way: Way, wanted: Wanted, heard: Heard, output: Path) -> Ended | Stopped:
    """Nothing of it is left when this ends, however it ends. Raises `NotExecutable`."""
    limits = wanted.limits
    running = asyncio.create_task(way.run(wanted, heard))
    watching = asyncio.create_task(_too_much(heard, output, limits))
    try:
        await asyncio.wait(
            {running, watching}, timeout=limits.seconds, return_when=asyncio.FIRST_COMPLETED
        )
        if watching.done():
            return watching.result()
        if heard.too_much.is_set():
            return _wrote_too_much(limits, "to its outputs")
        if running.done():
            return running.result()
        return Stopped(
            Outcome.TIMEOUT,
            f"it was stopped after {limits.seconds:g} seconds: "
            "give it less to do, or a longer time limit",
        )
    finally:
        with anyio.CancelScope(shield=True):
            running.cancel()
            watching.cancel()
            await asyncio.wait({running, watching})
            for task in (running, watching):
                if not task.cancelled():
                    task.exception()  # nobody else asks for one that came with the end


async def _too_much(heard: Heard, output: Path, limits: Limits) -> Stopped:
    """Waits until it writes too much. Each single file has a limit that the system holds."""
    while True:
        try:
            async with asyncio.timeout(LOOK):
                await heard.too_much.wait()
            return _wrote_too_much(limits, "to its outputs")
        except TimeoutError:
            size, files = await asyncio.to_thread(size_of, output)
        if size > limits.written_bytes:
            return _wrote_too_much(limits, "to its folder")
        if files > MAX_FILES:
            error = f"it was stopped because it made more than {MAX_FILES:,} files in its folder"
            return Stopped(Outcome.KILLED, error)


def _wrote_too_much(limits: Limits, where: str) -> Stopped:
    return Stopped(
        Outcome.KILLED,
        f"it was stopped because it wrote more than {limits.written_bytes:,} bytes {where}: "
        "make it write less, or raise the limit",
    )
