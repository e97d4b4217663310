"""Shell scripts as tools.

A script gets each argument as a variable, and all of them in a JSON file; never in its command
line, where a shell would take part of a value for a command. What it prints is its result.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import which
from typing import NamedTuple

from pegboard.errors import InvalidArguments, NotExecutable, SecretMissing
from pegboard.execute.answered_json import as_object, cut_short, printed_object, read_json
from pegboard.execute.job import Job
from pegboard.execute.process.processes import SEARCH_PATH, Command, Processes, Ran
from pegboard.execute.secrets import environment_of
from pegboard.execute.variables import variable, variables_of
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.content import Json
from pegboard.model.items import Item

Unpack = Callable[[Item], Path]


class BashExecutor:
    def __init__(self, processes: Processes, unpack: Unpack) -> None:
        """`unpack` gives the folder that has the files of an item."""
        self._processes = processes
        self._unpack = unpack
        self._shell = which("bash", path=SEARCH_PATH) or "/bin/sh"

    async def close(self) -> None:
        self._processes.close()

    async def run(self, job: Job) -> CallResult:
        try:
            environment = environment_of(job.item.executor, job.secrets)
            variables = variables_of(job.arguments)
            folder = await asyncio.to_thread(self._unpack, job.item)
        except (SecretMissing, NotExecutable) as missing:
            return CallResult(Outcome.UNAVAILABLE, error=str(missing))
        except InvalidArguments as unusable:
            return CallResult(Outcome.INVALID_ARGUMENTS, error=str(unusable))
        except OSError as error:
            return CallResult(Outcome.UNAVAILABLE, error=f"its files cannot be unpacked: {error}")
        name = str(job.item.executor.get("entrypoint", ""))
        script = folder / name
        if not script.is_file() or not script.resolve().is_relative_to(folder.resolve()):
            return CallResult(
                Outcome.UNAVAILABLE,
                error=f"there is no file {name!r} among the tool's files: correct its entrypoint",
            )
        argv = (self._shell, str(script), *_fixed(job.item.executor))
        ran = await self._processes.run(Command(argv, folder, environment | variables), job)
        return _noted(_result(ran, job), variables, job.arguments)


def _fixed(config: Json) -> tuple[str, ...]:
    said = config.get("args")
    return tuple(map(str, said)) if isinstance(said, list | tuple) else ()


def _noted(result: CallResult, variables: Mapping[str, str], arguments: Json) -> CallResult:
    left_out = [name for name in arguments if variable(name) not in variables]
    if not left_out:
        return result
    note = f"note: too long for a variable, so only in $PEGBOARD_ARGUMENTS: {', '.join(left_out)}"
    return result._replace(logs="\n".join(filter(None, (result.logs.rstrip("\n"), note))))


class _Answer(NamedTuple):
    text: str
    structured: Json | None
    logs: str


def _result(ran: Ran, job: Job) -> CallResult:
    if ran.outcome is Outcome.UNAVAILABLE:
        return CallResult(ran.outcome, error=ran.error, logs=ran.stderr)
    text, structured, logs = _answer(ran, promised=bool(job.item.output_schema))
    outcome, error = ran.outcome, ran.error
    if outcome is Outcome.OK and structured is None and ran.cut and job.item.output_schema:
        outcome, error = Outcome.FAILED, cut_short(job.limits.log_bytes)
    return CallResult(
        outcome,
        ({"type": "text", "text": text},) if text else (),
        structured,
        error,
        logs=logs,
        artifacts=ran.artifacts,
        sandbox=ran.sandbox,
    )


def _answer(ran: Ran, *, promised: bool) -> _Answer:
    """The file before what was printed, which is then only on the way."""
    if ran.answer is None:
        return _Answer(ran.stdout, printed_object(ran.stdout, promised=promised), ran.stderr)
    text = ran.answer.decode("utf-8", "replace").strip()
    try:
        structured = as_object(read_json(text))
    except ValueError:
        complaint = "what it wrote to the file that $PEGBOARD_ANSWER names is no JSON"
        return _Answer(ran.stdout, None, f"{ran.stderr}\n{complaint}".strip())
    return _Answer(text, structured, "\n".join(filter(None, (ran.stdout, ran.stderr))))
