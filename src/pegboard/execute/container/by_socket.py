"""Containers by the socket of an engine, in the words of the Docker Engine API."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote

import anyio
import httpx2

from pegboard.errors import NotExecutable
from pegboard.execute.container.engines import Engine, at_socket
from pegboard.execute.container.program import whole
from pegboard.execute.container.wanted import LABEL, Ended, Heard, Mount, Wanted

PULL_SECONDS = 600.0
UNTIL_REMOVED = 10.0
UNTIL_READ = 1.0
_FOR_EVER = httpx2.Timeout(30.0, read=None)
_NOT_STARTED = 127
_OVER = ("exited", "stopped", "dead")
_HEADER = 8


class BySocket:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def volumes(self, image: str) -> tuple[str, ...] | None:
        async with self._client() as client:
            answer = await client.get(f"/images/{quote(image)}/json")
        if answer.status_code == 404:
            return None
        return tuple((self._content(answer).get("Config") or {}).get("Volumes") or ())

    async def pull(self, image: str) -> None:
        # Without a tag, all of them would be pulled.
        tagged = image if set(":@") & set(image.rpartition("/")[2]) else f"{image}:latest"
        wait = httpx2.Timeout(30.0, read=PULL_SECONDS)
        async with self._client() as client:
            answer = await client.post("/images/create", params={"fromImage": tagged}, timeout=wait)
        if answer.is_error:
            self._content(answer)
        for line in answer.text.splitlines():
            if said := _object(line).get("error"):
                raise self._failure(str(said))

    async def run(self, wanted: Wanted, heard: Heard) -> Ended:
        async with self._client() as client:
            try:
                await whole(self._make(client, wanted))
                return await self._watch_to_the_end(client, wanted, heard)
            finally:
                with anyio.move_on_after(UNTIL_REMOVED, shield=True), suppress(httpx2.HTTPError):
                    await self._remove(client, wanted.name)

    async def left(self) -> dict[str, float]:
        asked = {"all": "true", "filters": json.dumps({"label": [LABEL]})}
        async with self._client() as client:
            listed = self._content(await client.get("/containers/json", params=asked))
        found = {each["Id"]: str(each["Labels"][LABEL]) for each in listed}
        return {name: float(until) for name, until in found.items() if until.isdecimal()}

    async def remove(self, name: str) -> bool:
        async with self._client() as client:
            return await self._remove(client, name)

    async def _make(self, client: httpx2.AsyncClient, wanted: Wanted) -> None:
        body = description(wanted, self._engine)
        answer = await client.post("/containers/create", params={"name": wanted.name}, json=body)
        self._content(answer)

    async def _watch_to_the_end(
        self, client: httpx2.AsyncClient, wanted: Wanted, heard: Heard
    ) -> Ended:
        """Reading is not broken off: what a container writes ends with it."""
        watching = asyncio.create_task(self._watch(client, wanted, heard))
        try:
            return await asyncio.shield(watching)
        finally:
            with anyio.CancelScope(shield=True):
                if not watching.done():
                    with suppress(httpx2.HTTPError):
                        await self._remove(client, wanted.name)
                    await asyncio.wait({watching}, timeout=UNTIL_READ)
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self, client: httpx2.AsyncClient, wanted: Wanted, heard: Heard) -> Ended:
        place = f"/containers/{wanted.name}"
        frames = Frames(lambda n, data: heard.add(heard.out if n == 1 else heard.err, data))
        streams = {"stream": "true", "stdout": "true", "stderr": "true"}
        attach = client.stream("POST", f"{place}/attach", params=streams, timeout=_FOR_EVER)
        async with attach as attached:
            if attached.is_error:
                await attached.aread()
                return Ended(_NOT_STARTED, refusal=_message(attached))
            if (begun := await client.post(f"{place}/start")).is_error:
                return Ended(_NOT_STARTED, refusal=_message(begun))
            async for chunk in attached.aiter_raw():
                frames.feed(chunk)
        state = self._content(await client.get(f"{place}/json"))["State"]
        if state["Status"] not in _OVER:
            # It has closed its outputs and goes on. To wait first would take podman longer.
            self._content(await client.post(f"{place}/wait", timeout=_FOR_EVER))
            state = self._content(await client.get(f"{place}/json"))["State"]
        return Ended(int(state["ExitCode"]), out_of_memory=state.get("OOMKilled") is True)

    async def _remove(self, client: httpx2.AsyncClient, name: str) -> bool:
        params = {"force": "true", "v": "true"}
        answer = await client.delete(f"/containers/{quote(name)}", params=params)
        return answer.is_success

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx2.AsyncClient]:
        try:
            async with at_socket(self._engine.socket) as client:
                yield client
        except httpx2.HTTPError as error:
            raise self._failure(str(error) or type(error).__name__) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._failure(f"its answer is not understood: {error!r}") from error

    def _content(self, answer: httpx2.Response) -> Any:  # noqa: ANN401 (what a stranger says)
        if answer.is_error:
            raise self._failure(_message(answer))
        return answer.json()

    def _failure(self, reason: str) -> NotExecutable:
        return NotExecutable(f"the engine at {self._engine.socket}: {reason}")


class Frames:
    """Takes apart what the outputs of a container are sent in: a stream, a length, and so much."""

    def __init__(self, hear: Callable[[int, bytes], None]) -> None:
        self._hear = hear
        self._header = b""
        self._stream = self._missing = 0

    def feed(self, data: bytes) -> None:
        while data:
            if self._missing:
                part, data = data[: self._missing], data[self._missing :]
                self._missing -= len(part)
                self._hear(self._stream, part)
                continue
            needed = _HEADER - len(self._header)
            self._header, data = self._header + data[:needed], data[needed:]
            if len(self._header) == _HEADER:
                self._stream = self._header[0]
                self._missing = int.from_bytes(self._header[4:], "big")
                self._header = b""


def description(wanted: Wanted, engine: Engine) -> dict[str, object]:
    """The body of a request to make it."""
    body: dict[str, object] = {
        "Image": wanted.image,
        "User": wanted.user,
        "Env": [f"{name}={value}" for name, value in wanted.variables.items()],
        "Labels": {LABEL: str(wanted.until)},
        "AttachStdout": True,
        "AttachStderr": True,
        "StopTimeout": 0,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": _confinement(wanted, engine),
    }
    if wanted.command:
        body["Cmd"] = list(wanted.command)
    if wanted.workdir:
        body["WorkingDir"] = wanted.workdir
    return body


def _confinement(wanted: Wanted, engine: Engine) -> dict[str, object]:
    limits = wanted.limits
    ulimits = wanted.ulimits | engine.ulimits
    labels = ["label=disable"] if wanted.relaxed_labels else []
    return {
        "Init": True,
        "LogConfig": {"Type": "none"},
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", *labels],
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,
        "NanoCpus": int(wanted.cpus * 1_000_000_000),
        "PidsLimit": limits.processes,
        "Ulimits": [{"Name": n, "Soft": most, "Hard": most} for n, most in ulimits.items()],
        "Tmpfs": dict.fromkeys(wanted.memory_folders, wanted.memory_options),
        "Mounts": [_mounted(mount) for mount in wanted.mounts],
        **({} if wanted.network else {"NetworkMode": "none"}),
        **({"UsernsMode": "keep-id"} if engine.rootless else {}),
    }


def _mounted(mount: Mount) -> dict[str, object]:
    """Without what is mounted below it if it is read-only: that would stay writable."""
    said = {"Type": "bind", "Source": str(mount.source), "Target": mount.target}
    if mount.writable:
        return dict(said)
    return {**said, "ReadOnly": True, "BindOptions": {"NonRecursive": True}}


def _message(answer: httpx2.Response) -> str:
    said = _object(answer.text).get("message")
    return str(said) if said else f"it answered with HTTP status {answer.status_code}"


def _object(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
