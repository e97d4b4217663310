"""A container held to its limits: stopped when it runs too long or writes too much."""

import asyncio
from pathlib import Path

import anyio

from pegboard.execute.container.wanted import Ended, Heard, Wanted, Way
from pegboard.execute.job import Limits
from pegboard.execute.stopping import Stopped, overfilled, too_long, too_much

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
            return too_much(limits, "to its outputs")
        if running.done():
            return running.result()
        return too_long(limits)
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
            return too_much(limits, "to its outputs")
        except TimeoutError:
            if stopped := await asyncio.to_thread(overfilled, output, limits):
                return stopped
