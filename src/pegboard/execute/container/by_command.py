"""Containers by the command of an engine: `podman run`, or `docker create` and `docker start`."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio

from pegboard.errors import CallError, NotExecutable
from pegboard.execute.container.engines import PODMAN, Engine
from pegboard.execute.container.program import STDOUT, Answer, Program, ask, started, whole
from pegboard.execute.container.wanted import LABEL, Ended, Heard, Mount, Wanted
from pegboard.execute.variables import PREFIX

ASK_SECONDS = 30.0
PULL_SECONDS = 600.0
UNTIL_REMOVED = 10.0
BETWEEN = 0.1
ENGINE_FAILED = 125
ENGINE_CODES = (ENGINE_FAILED, 126, 127)
"""By these an engine says that it did not run the command. A command can have them too."""

_NO_IMAGE = re.compile(r"no such image|image not known|failed to find image", re.IGNORECASE)

Words = tuple[str, ...]


class ByCommand:
    def __init__(self, engine: Engine, environ: Mapping[str, str]) -> None:
        self._engine = engine
        self._environ = environ

    async def volumes(self, image: str) -> tuple[str, ...] | None:
        answer = await self._ask("image", "inspect", "--format", "{{json .Config.Volumes}}", image)
        if answer.code == 0:
            return _keys(answer.said)
        if _NO_IMAGE.search(answer.complained):
            return None
        raise self._failure(answer)

    async def pull(self, image: str) -> None:
        answer = await self._ask("pull", "--quiet", image, seconds=PULL_SECONDS)
        if answer.code != 0:
            raise self._failure(answer)

    async def run(self, wanted: Wanted, heard: Heard) -> Ended:
        made = (*self._options(wanted), "--env-file", str(_variables_file(wanted)))
        words = (*made, wanted.image, *wanted.command)
        environ = {**self._environ, **_by_environment(wanted.variables)}
        step = self._run_at_once if self._engine.kind == PODMAN else self._make_and_start
        ended = None
        try:
            ended = await step(wanted, words, environ, heard)
            return ended
        finally:
            # Podman itself removes one that came to its end.
            if self._engine.kind != PODMAN or ended is None or ended.refusal:
                with anyio.move_on_after(UNTIL_REMOVED, shield=True), suppress(NotExecutable):
                    await self.remove(wanted.name)

    async def _run_at_once(
        self, wanted: Wanted, words: Words, environ: Mapping[str, str], heard: Heard
    ) -> Ended:
        """What watches over the container tells in a file of this name that memory ran out."""
        code = await self._attached(("run", *words), environ, heard, wanted)
        ran = code not in ENGINE_CODES or _number_file(wanted).exists()
        out_of_memory = (wanted.folder / "oom").exists()
        return Ended(code, out_of_memory, refusal="" if ran else _complaint(heard))

    async def _make_and_start(
        self, wanted: Wanted, words: Words, environ: Mapping[str, str], heard: Heard
    ) -> Ended:
        """Docker goes on making one when its program is ended, so that is a step of its own."""
        making = ask((self._engine.program, "create", *words), environ, ASK_SECONDS)
        if (answer := await whole(making)).code != 0:
            return Ended(ENGINE_FAILED, refusal=answer.reason)
        attach = ("start", "--attach", wanted.name)
        code = await self._attached(attach, environ, heard, wanted)
        if code == 0:
            return Ended(code)
        form = "{{.State.Status}} {{.State.OOMKilled}}"
        state = (await self._ask("container", "inspect", "--format", form, wanted.name)).said
        refusal = _complaint(heard) if state.startswith("created") else ""
        return Ended(code, out_of_memory=state.endswith("true"), refusal=refusal)

    async def left(self) -> dict[str, float]:
        listed = await self._ask("ps", "--all", "--quiet", "--filter", f"label={LABEL}")
        if listed.code != 0 or not (names := listed.said.split()):
            return {}
        form = f'{{{{.Name}}}} {{{{index .Config.Labels "{LABEL}"}}}}'
        told = await self._ask("container", "inspect", "--format", form, *names)
        lines = [line.removeprefix("/").partition(" ") for line in told.said.splitlines()]
        return {name: float(until) for name, _, until in lines if until.isdecimal()}

    async def remove(self, name: str) -> bool:
        answer = await self._ask("rm", "--force", "--volumes", name)
        return bool(answer.said)

    async def _attached(
        self, words: Words, environ: Mapping[str, str], heard: Heard, wanted: Wanted
    ) -> int:
        def hear(fd: int, data: bytes) -> None:
            heard.add(heard.out if fd == STDOUT else heard.err, data)

        argv = (self._engine.program, *words)
        async with started(argv, environ, hear, wanted.folder) as program:
            try:
                return await program.ended()
            except asyncio.CancelledError:
                if self._engine.kind == PODMAN:
                    with anyio.move_on_after(UNTIL_REMOVED, shield=True), suppress(NotExecutable):
                        await self._remove_under(program, wanted.name)
                raise

    async def _remove_under(self, program: Program, name: str) -> None:
        """Podman ends by itself when its container is gone.

        Were it ended while it begins one, a process would be left that it does not know of.
        """
        while not program.over:
            await self.remove(name)
            with anyio.move_on_after(BETWEEN):
                await program.ended()

    def _options(self, wanted: Wanted) -> Iterator[str]:
        limits = wanted.limits
        yield from ("--name", wanted.name, "--label", f"{LABEL}={wanted.until}", "--init")
        yield from ("--pull", "never", "--log-driver", "none")
        yield from ("--no-healthcheck", "--stop-timeout", "0")
        yield from ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        yield from ("--user", wanted.user, "--pids-limit", str(limits.processes))
        yield from ("--memory", str(limits.memory_bytes), "--cpus", f"{wanted.cpus:g}")
        yield from ("--memory-swap", str(limits.memory_bytes))
        for name, most in (wanted.ulimits | self._engine.ulimits).items():
            yield from ("--ulimit", f"{name}={most}:{most}")
        for path in wanted.memory_folders:
            yield from ("--tmpfs", f"{path}:{wanted.memory_options}")
        for mount in wanted.mounts:
            yield from ("--mount", _mounted(mount))
        for name in _by_environment(wanted.variables):
            yield from ("--env", name)
        if not wanted.network:
            yield from ("--network", "none")
        if wanted.workdir:
            yield from ("--workdir", wanted.workdir)
        if wanted.relaxed_labels:
            yield from ("--security-opt", "label=disable")
        if self._engine.kind == PODMAN:
            yield from self._options_of_podman(wanted)

    def _options_of_podman(self, wanted: Wanted) -> Iterator[str]:
        """Docker has no such options, or does not do by itself what they prevent.

        It is not told to remove the container either: over podman's socket, its client then takes
        every exit code for 0.
        """
        yield from ("--rm", "--timeout", str(wanted.last_second), "--sig-proxy=false")
        yield from ("--pidfile", str(_number_file(wanted)))
        yield from ("--read-only-tmpfs=false", "--env-host=false", "--http-proxy=false")
        if self._engine.rootless:
            yield "--userns=keep-id"

    async def _ask(self, *words: str, seconds: float = ASK_SECONDS) -> Answer:
        return await ask((self._engine.program, *words), self._environ, seconds)

    def _failure(self, answer: Answer) -> NotExecutable:
        """With the last thing that it said: before that, podman tells of every try."""
        said = answer.complained.rpartition("\n")[2] or answer.reason
        return NotExecutable(f"{self._engine.program}: {said}")


def _mounted(mount: Mount) -> str:
    """Without what is mounted below it, which would stay writable."""
    said = f"type=bind,source={mount.source},destination={mount.target}"
    return said if mount.writable else f"{said},readonly,bind-nonrecursive"


def _by_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """These mean nothing to an engine, so it can have them in its own environment."""
    return {name: value for name, value in variables.items() if name.startswith(PREFIX)}


def _variables_file(wanted: Wanted) -> Path:
    """The others, such as LD_PRELOAD, may mean much. Engines read a line for each."""
    lines: list[str] = []
    for name, value in wanted.variables.items():
        if name.startswith(PREFIX):
            continue
        if "\n" in value or "\r" in value:
            raise CallError(
                f"the variable {name} has more than one line, which this engine cannot be given",
                "write it in one line, such as in base64",
            )
        lines.append(f"{name}={value}\n")
    path = wanted.folder / "variables"
    path.touch(0o600)
    path.write_text("".join(lines), "utf-8")
    return path


def _number_file(wanted: Wanted) -> Path:
    """Is there as soon as the first process of the container is."""
    return wanted.folder / "number"


def _complaint(heard: Heard) -> str:
    return " ".join(heard.err.text(str).split()) or "it does not say why"


def _keys(said: str) -> tuple[str, ...]:
    """Of an object in JSON, if it is one."""
    try:
        found = json.loads(said)
    except ValueError:
        return ()
    return tuple(found) if isinstance(found, dict) else ()
