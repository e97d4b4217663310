"""Tools of type `docker`: one container for each run, with nothing that is not granted."""

import asyncio
import os
import posixpath
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from weakref import WeakKeyDictionary

import anyio

from pegboard.errors import CallError, InvalidArguments, NotExecutable, SecretMissing
from pegboard.execute.container.by_command import ByCommand
from pegboard.execute.container.by_socket import BySocket
from pegboard.execute.container.engines import Engines
from pegboard.execute.container.limits import held
from pegboard.execute.container.manifest import HOME, Asked, asked_of
from pegboard.execute.container.mounts import mounts_of
from pegboard.execute.container.result import result_of
from pegboard.execute.container.wanted import Heard, Wanted, Way
from pegboard.execute.folders import remove
from pegboard.execute.grants import place_in_project
from pegboard.execute.job import Job
from pegboard.execute.room import Left, Private, Room, abandoned, left_in
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.items import Item

NOBODY = "65534:65534"
PARALLEL = 8
"""Engines answer slowly when many containers begin at once."""
LATER = 60
"""Seconds after its time limit when a container may be removed by whoever sees it."""
UNTIL_SWEPT = 5.0


class ContainerExecutor:
    """May be used from any event loop."""

    def __init__(
        self,
        *,
        engine: str,
        scratch: Path,
        environ: Mapping[str, str],
        unpack: Callable[[Item], Path] | None = None,
        parallel: int = PARALLEL,
    ) -> None:
        """`environ` is Pegboard's own: engines get it, containers only what is granted of it.

        `unpack` puts the files of a tool into a folder, and may raise `NotExecutable`. Of more
        runs than `parallel` in one event loop, some wait; that is not taken off their time.
        """
        self._engines = Engines(engine, environ)
        self._scratch = scratch / "containers"
        self._environ = environ
        self._unpack = unpack
        self._parallel = parallel
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )
        self._room: Room | None = None
        self._lock = threading.Lock()
        self._has_swept = False

    async def run(self, job: Job) -> CallResult:
        try:
            asked = asked_of(job, self._environ)
            async with self._turn():
                return await self._run(job, asked)
        except InvalidArguments as error:
            return CallResult(Outcome.INVALID_ARGUMENTS, error=str(error))
        except (SecretMissing, NotExecutable) as error:
            return CallResult(Outcome.UNAVAILABLE, error=str(error))
        except CallError as error:
            return CallResult(Outcome.FAILED, error=str(error))
        except OSError as error:
            return CallResult(Outcome.UNAVAILABLE, error=f"no private folder can be made: {error}")

    async def close(self) -> None:
        """Removes its folder; done by itself at the end of the program."""
        with self._lock:
            if self._room is not None:
                self._room.close()

    def _turn(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        with self._lock:
            return self._turns.setdefault(loop, asyncio.Semaphore(self._parallel))

    async def _run(self, job: Job, asked: Asked) -> CallResult:
        engine = await self._engines.find()
        way = ByCommand(engine, self._environ) if engine.program else BySocket(engine)
        volumes = await self._volumes(way, asked.image)
        room = await asyncio.to_thread(self._settle)
        private = room.take(job.arguments)
        try:
            heard = Heard(job.limits)
            wanted = await asyncio.to_thread(self._wanted, private, volumes, job, asked)
            async with self._sweeping(way):
                with self._doubting():
                    ended = await held(way, wanted, heard, private.output)
            left = await asyncio.to_thread(_left_in, private)
            return result_of(job, ended, heard, left)
        finally:
            with anyio.CancelScope(shield=True):
                await room.give_back(private)

    async def _volumes(self, way: Way, image: str) -> tuple[str, ...]:
        """Folders that the image wants to be writable. The image is pulled if it is missing."""
        with self._doubting():
            found = await way.volumes(image)
        if found is not None:
            return found
        try:
            await way.pull(image)
        except NotExecutable as error:
            raise NotExecutable(
                f"the image {image} is not on this host and cannot be pulled: {error.message}",
                "pull or build it by hand, or correct its name in the manifest",
            ) from error
        return await way.volumes(image) or ()

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """An engine that did not do as it was told is looked for again, the next time."""
        try:
            yield
        except NotExecutable:
            self._engines.forget()
            raise

    def _wanted(self, private: Private, volumes: tuple[str, ...], job: Job, asked: Asked) -> Wanted:
        files = job.item.version.files if job.item.version else ()
        tool = self._unpack(job.item) if self._unpack and files else None
        mounts = mounts_of(private, tool, job.grants)
        covered = {mount.target for mount in mounts}
        folders = dict.fromkeys((HOME, *map(posixpath.normpath, volumes)))
        return Wanted(
            name=f"pegboard-{uuid.uuid4()}",
            image=asked.image,
            command=asked.command,
            variables=asked.variables,
            mounts=mounts,
            memory_folders=tuple(path for path in folders if path not in covered),
            folder=private.path,
            user=_user(),
            limits=job.limits,
            until=int(time.time() + job.limits.seconds) + LATER,
            workdir=str(job.item.executor.get("workdir") or place_in_project(job.grants) or ""),
            network=job.grants.network,
        )

    def _settle(self) -> Room:
        with self._lock:
            if self._room is None:
                for path in abandoned(self._scratch):
                    remove(path)
                self._room = Room(self._scratch)
            return self._room

    @asynccontextmanager
    async def _sweeping(self, way: Way) -> AsyncIterator[None]:
        """The first run also removes what others left who died, without waiting for it first."""
        if self._has_swept:
            yield
            return
        self._has_swept = True
        sweeping = asyncio.create_task(sweep(way))
        try:
            yield
            await asyncio.wait({sweeping}, timeout=UNTIL_SWEPT)
        finally:
            with anyio.CancelScope(shield=True):
                sweeping.cancel()
                await asyncio.wait({sweeping})


async def sweep(way: Way) -> None:
    """Removes the containers of ours that should be over."""
    with suppress(NotExecutable):
        for name, until in (await way.left()).items():
            if until < time.time():
                await way.remove(name)


def _left_in(private: Private) -> Left:
    try:
        return left_in(private)
    except (OSError, RecursionError) as error:
        return Left(complaint=f"its output cannot be read: {type(error).__name__}")


def _user() -> str:
    """Who owns the files that are shown, so that they can be used, but never root."""
    if not hasattr(os, "getuid") or os.getuid() == 0:
        return NOBODY
    return f"{os.getuid()}:{os.getgid()}"
