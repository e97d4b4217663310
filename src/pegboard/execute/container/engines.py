"""Which container engine this host has: podman or docker, by its command or by its socket."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which
from typing import NamedTuple

import httpx2

from pegboard.errors import NotExecutable
from pegboard.execute.container.program import ask

PODMAN, DOCKER = "podman", "docker"
ANSWER_SECONDS = 5.0
PROCESSES = 4_096
"""Of all containers of one user together; each has a smaller limit of its own."""
FAILURE_SECONDS = 10.0
"""So long nobody is asked again when nobody answered: somebody may be starting an engine."""

_ADVICE = (
    "install podman (apt install podman), or start docker; "
    "then `podman info` or `docker info` must work for the user that Pegboard runs as"
)
_MOST_SAID = 300
_PODMANS_NAME = "Podman Engine"


class Engine(NamedTuple):
    kind: str
    """Whose dialect it speaks."""
    server: str
    """Who runs its containers."""
    program: str = ""
    """Empty if it is reached by its socket."""
    socket: str = ""
    rootless: bool = False
    """Whether podman runs as somebody who is not root: users are others inside then."""

    @property
    def ulimits(self) -> dict[str, int]:
        """Podman as root wants a million processes, which a host may not let it have."""
        return {"nproc": PROCESSES} if self.server == PODMAN and not self.rootless else {}


class Engines:
    """Which one answers is remembered; that none does, for some seconds."""

    def __init__(self, choice: str, environ: Mapping[str, str]) -> None:
        self._choice = choice
        self._environ = environ
        self._found: Engine | None = None
        self._failed: tuple[float, str] | None = None

    async def find(self) -> Engine:
        """Raises `NotExecutable` with the reason of each that was tried."""
        if self._found is not None:
            return self._found
        if self._failed and time.monotonic() - self._failed[0] < FAILURE_SECONDS:
            raise NotExecutable(self._failed[1], _ADVICE)
        reasons: list[str] = []
        for place in self._places():
            answer = await (self._by_socket(place) if "/" in place else self._by_program(place))
            if isinstance(answer, Engine):
                self._found = answer
                return answer
            reasons.append(f"{place}: {answer[:_MOST_SAID]}")
        message = f"no container engine can be used: {'; '.join(reasons)}"
        self._failed = (time.monotonic(), message)
        raise NotExecutable(message, _ADVICE)

    def forget(self) -> None:
        """It may no longer be there."""
        self._found = None

    def _places(self) -> Iterator[str]:
        """Names of programs, then paths of sockets."""
        if self._choice in ("auto", PODMAN):
            yield PODMAN
        if self._choice in ("auto", DOCKER):
            yield DOCKER
            yield from _local(self._environ.get("DOCKER_HOST", ""))
            yield from ("/run/docker.sock", "/var/run/docker.sock")
        if self._choice in ("auto", PODMAN):
            if runtime := self._environ.get("XDG_RUNTIME_DIR"):
                yield f"{runtime}/podman/podman.sock"
            yield "/run/podman/podman.sock"

    async def _by_program(self, name: str) -> Engine | str:
        path = which(name, path=self._environ.get("PATH", ""))
        if path is None:
            return "not installed"
        argv = (path, "version", "--format", "{{json .}}")
        try:
            answer = await ask(argv, self._environ, ANSWER_SECONDS)
        except NotExecutable as error:
            return error.message
        if answer.code != 0:
            return answer.reason
        if not (kind := _kind_of_program(answer.said)):
            return f"it does not say its version, but {answer.said[:50]!r}"
        server = PODMAN if _PODMANS_NAME in answer.said else kind
        rootless = kind == PODMAN and _own_uid() != 0
        return Engine(kind, server, program=path, rootless=rootless)

    async def _by_socket(self, path: str) -> Engine | str:
        try:
            owner = Path(path).stat().st_uid
            async with at_socket(path) as client:
                answer = await client.get("/version", timeout=ANSWER_SECONDS)
            said = answer.raise_for_status().json()
            names = {each["Name"] for each in said.get("Components") or ()}
        except (OSError, httpx2.HTTPError) as error:
            return getattr(error, "strerror", "") or str(error) or type(error).__name__
        except (ValueError, TypeError, KeyError, AttributeError):
            return "what answers there is no container engine"
        kind = PODMAN if _PODMANS_NAME in names else DOCKER
        return Engine(kind, kind, socket=path, rootless=kind == PODMAN and owner != 0)


def at_socket(path: str) -> httpx2.AsyncClient:
    """The host in its addresses is of no importance."""
    return httpx2.AsyncClient(
        transport=httpx2.AsyncHTTPTransport(uds=path),
        base_url="http://engine",
        trust_env=False,
        timeout=httpx2.Timeout(30.0),
    )


def _local(address: str) -> Iterator[str]:
    """Folders of this host cannot be mounted on another."""
    scheme, _, path = address.partition("://")
    if scheme == "unix" and path.startswith("/"):
        yield path


def _kind_of_program(said: str) -> str:
    """A `docker` may be podman under another name. Empty if it is neither."""
    try:
        client = dict(json.loads(said)["Client"])
    except (ValueError, TypeError, KeyError):
        return ""
    return PODMAN if "OsArch" in client else DOCKER


def _own_uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else -1
