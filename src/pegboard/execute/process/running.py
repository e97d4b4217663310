"""One process and all its descendants, from the start until nothing of it is left."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio

from pegboard.execute.job import Limits
from pegboard.execute.output import Output
from pegboard.execute.process.groups import Group
from pegboard.execute.process.marks import kill_run
from pegboard.execute.stopping import Stopped, overfilled, too_long, too_much

LINGER = 0.25
"""Its output may be held open by a descendant after it has ended."""
GRACE = 0.2
"""Between asking it to end and ending it."""
UNTIL_GONE = 0.5
_LOOK = 0.1
_LOOK_FOR_EXIT = 0.01
_PATIENCE = 0.0005
_CHUNK = 1 << 16


class Running:
    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        limits: Limits,
        folder: Path,
        group: Group | None = None,
        cwd: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Started at once, from the thread of the event loop: with that thread, it would end."""
        self.stdout, self.stderr = Output(limits.log_bytes), Output(limits.log_bytes)
        self.stopped: Stopped | None = None
        self._limits = limits
        self._folder = folder
        self._group = group
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._open: dict[int, Output] = {}
        self._exited = self._reaped = False
        self._timers: list[asyncio.TimerHandle] = []
        self._process = subprocess.Popen(  # noqa: S603 - to run what strangers wrote is its purpose
            argv,
            env=environment,
            cwd=cwd,
            pass_fds=pass_fds,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._pidfd = _pidfd(self._process.pid)
        self._often = _LOOK_FOR_EXIT if self._pidfd is None else _LOOK
        try:
            self._attend()
        except BaseException:
            self._process.kill()
            raise

    @property
    def code(self) -> int | None:
        return self._process.returncode

    async def ended(self) -> None:
        """By itself or stopped; its descendants may go on until `end`."""
        await self._over.wait()

    def _attend(self) -> None:
        for pipe, output in (
            (self._process.stdout, self.stdout),
            (self._process.stderr, self.stderr),
        ):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._open[pipe.fileno()] = output
                self._loop.add_reader(pipe.fileno(), self._read, pipe.fileno())
        if self._pidfd is not None:
            self._loop.add_reader(self._pidfd, self._see_exit)
        self._after(self._limits.seconds, lambda: self._stop(too_long(self._limits)))
        self._after(self._often, self._look)

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        self._timers.append(self._loop.call_later(seconds, then))

    def _read(self, pipe: int) -> None:
        output = self._open[pipe]
        try:
            data = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            output.add(data)
            if self.stdout.size + self.stderr.size > self._limits.written_bytes:
                self._stop(too_much(self._limits, "to its outputs"))
        else:
            self._close(pipe)
            if self._exited and not self._open:
                self._over.set()

    def _close(self, pipe: int) -> None:
        del self._open[pipe]
        self._loop.remove_reader(pipe)

    def _see_exit(self) -> None:
        if self._exited:
            return
        self._exited = True
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
        self._let_linger()

    def _let_linger(self) -> None:
        if self._open:
            self._after(LINGER, self._over.set)
        else:
            self._over.set()

    def _look(self) -> None:
        """Cheap: a folder with a few files in it takes microseconds."""
        if not self._exited and self._has_exited():
            self._let_linger()
        began = self._loop.time()
        written = self._group.written() if self._group is not None else 0
        if stopped := overfilled(self._folder, self._limits, written):
            self._stop(stopped)
        elif not self._over.is_set():
            took = self._loop.time() - began
            self._timers[1] = self._loop.call_later(max(self._often, 10 * took), self._look)

    def _stop(self, why: Stopped) -> None:
        if self.stopped is None and not self._exited:
            self.stopped = why
        self._over.set()

    async def end(self, run: str, *, ask: bool) -> None:
        """Afterwards nothing of it runs. `ask`: it may first end by itself, else it is killed."""
        for timer in self._timers:
            timer.cancel()
        try:
            with anyio.CancelScope(shield=True):
                if ask and not self._has_exited():
                    self._signal(signal.SIGTERM)
                    await _until(self._has_exited, GRACE)
                alone = ask or not self._has_exited()  # else its namespace has ended with it
                self._kill()
                await _until(self._is_reaped, UNTIL_GONE)
                if self._group is not None:
                    await _until(self._group.remove, UNTIL_GONE)
                elif alone:
                    await _until(lambda: not kill_run(run), UNTIL_GONE)
        except BaseException:  # cancelled again
            self._kill()
            raise
        finally:
            self._let_go()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        if self._group is not None:
            self._group.kill()

    def _signal(self, number: signal.Signals) -> None:
        """To its process group, whose number nobody else has before it is reaped."""
        if not self._reaped and sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _has_exited(self) -> bool:
        if self._pidfd is None:
            self._exited = self._process.poll() is not None
        return self._exited

    def _is_reaped(self) -> bool:
        self._reaped = self._has_exited() and self._process.poll() is not None
        return self._reaped

    def _let_go(self) -> None:
        for pipe in list(self._open):
            self._close(pipe)
        for file in (self._process.stdout, self._process.stderr):
            if file is not None:
                file.close()
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None


async def _until(condition: Callable[[], bool], seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while not condition():
            await anyio.sleep(_PATIENCE)


def _pidfd(pid: int) -> int | None:
    """Tells when a process ends; not on every system."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
