"""Runs tools that are Python files, each call in a process of its own.

A file that has a function `run`, or whose manifest names one, is imported and the function called;
any other file is run as a script.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pegboard.errors import NotExecutable, SecretMissing
from pegboard.execute.job import Job
from pegboard.execute.process.processes import SEARCH_PATH, Command, Processes
from pegboard.execute.python.bundle import START, bundle
from pegboard.execute.python.environments import Environments
from pegboard.execute.python.interpreter import Interpreter
from pegboard.execute.python.needs import check_python, entry_path, needs_of
from pegboard.execute.python.result import python_result
from pegboard.execute.secrets import environment_of
from pegboard.execute.unpacked import Unpacked
from pegboard.model.calls import CallProgress, CallResult, Outcome
from pegboard.model.content import ItemFile
from pegboard.model.items import Item


class PythonExecutor:
    def __init__(
        self,
        processes: Processes,
        unpacked: Unpacked,
        environments: Environments,
        interpreter: Interpreter,
    ) -> None:
        self._processes = processes
        self._unpacked = unpacked
        self._environments = environments
        self._interpreter = interpreter

    async def close(self) -> None:
        self._processes.close()

    async def run(self, job: Job) -> CallResult:
        try:
            command = await self._command(job)
        except (NotExecutable, SecretMissing) as error:
            return CallResult(Outcome.UNAVAILABLE, error=job.secrets.hide(str(error)))
        return python_result(await self._processes.run(command, job), job)

    async def _command(self, job: Job) -> Command:
        """Raises `NotExecutable` and `SecretMissing`."""
        item, given = job.item, environment_of(job.item.executor, job.secrets)
        entry = _entry(item)
        needs = needs_of(item, entry.path)
        check_python(needs.python, self._interpreter.version)
        folder, begins = await asyncio.to_thread(self._files, item, entry)
        python = [str(self._interpreter.executable), "-I", "-S"]
        shown = [*self._interpreter.shown, begins]
        if needs.requirements:
            place = await self._environments.folder(
                needs.requirements, lambda: _tell(job, needs.requirements)
            )
            python = [str(place / "bin" / "python"), "-I"]
            shown.append(place)
            given = {"PATH": f"{place / 'bin'}:{SEARCH_PATH}", **given}
        file = folder / entry.path
        imports = str(file.parent) if _has_siblings(item, entry) else ""
        words = (str(begins), str(file), imports, _text(item, "function"))
        flags = ("-B", "-X", "utf8", "-c", START)
        return Command((*python, *flags, *words), folder, given, tuple(shown))

    def _files(self, item: Item, entry: ItemFile) -> tuple[Path, Path]:
        """The item's folder, and the file that its process begins with."""
        folder = self._unpacked.folder(item)
        begins = bundle(entry.content, str(folder / entry.path))
        return folder, self._unpacked.place([begins], str(item.id)) / begins.path


def _text(item: Item, name: str) -> str:
    found = item.executor.get(name)
    return found if isinstance(found, str) else ""


def _entry(item: Item) -> ItemFile:
    path = entry_path(item)
    for file in item.version.files if item.version else ():
        if file.path == path:
            return file
    raise NotExecutable(
        f"{item.id} has no file {path[:200]!r}, which it is to be run by",
        "name one of its files as executor_config.entrypoint",
    )


def _has_siblings(item: Item, entry: ItemFile) -> bool:
    """Whether there is anything else to import.

    A tool in one file is often named after a module that it, or a part of the standard library,
    imports, such as calendar.py: its folder must not come first then.
    """
    paths = [file.path for file in item.version.files] if item.version else []
    return any(path.endswith((".py", ".so")) for path in paths if path != entry.path)


def _tell(job: Job, requirements: Sequence[str]) -> None:
    if job.on_progress is not None:
        names = ", ".join(each.partition(" --hash")[0] for each in requirements[:5])
        job.on_progress(CallProgress(0, None, f"installing {names}"))
