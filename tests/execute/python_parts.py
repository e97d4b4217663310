"""Python tools from their source, and an executor that runs them."""

import asyncio
import os
import textwrap
from pathlib import Path
from typing import Any

from making import make_file, make_item
from pegboard.execute.job import Job, Sandboxing
from pegboard.execute.process.processes import Processes
from pegboard.execute.python.environments import Environments
from pegboard.execute.python.executor import PythonExecutor
from pegboard.execute.python.interpreter import base_interpreter
from pegboard.execute.secrets import Secrets
from pegboard.execute.unpacked import Unpacked
from pegboard.model.calls import CallResult, Outcome
from pegboard.model.content import ItemFile, Version
from pegboard.model.items import Item


def python_file(path: str, source: str | bytes, **fields: Any) -> ItemFile:
    content = source if isinstance(source, bytes) else textwrap.dedent(source).encode()
    return make_file(path, content, **fields)


def python_item(source: str | bytes, *others: ItemFile, **executor: object) -> Item:
    """A tool with this main.py, other files, and what its manifest says."""
    files = (python_file("main.py", source), *others)
    return make_item("walk", executor=executor, version=Version("1.0.0", "", files=files))


class Python:
    """Everything that a Python tool is run with, in one folder."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.environ = {"PATH": os.environ["PATH"]} | environ
        self.processes = Processes(scratch=folder / "scratch", environ=self.environ)
        self.environments = Environments(folder / "environments", self.environ, base_interpreter())
        self.executor = PythonExecutor(
            self.processes, Unpacked(folder / "files"), self.environments, base_interpreter()
        )

    def job(self, item: Item, arguments: dict[str, object] | None = None, **fields: Any) -> Job:
        fields.setdefault("secrets", Secrets(self.environ.get))
        return Job(item, arguments or {}, **fields)

    def run(self, item: Item, **arguments: object) -> CallResult:
        return self.run_job(self.job(item, arguments))

    def run_job(self, job: Job) -> CallResult:
        return asyncio.run(self.executor.run(job))

    def run_open(self, item: Item, **arguments: object) -> CallResult:
        """Without a sandbox."""
        return self.run_job(self.job(item, arguments, sandboxing=Sandboxing.OFF))

    def value(self, source: str | bytes, *others: ItemFile, **arguments: object) -> object:
        """What the function of this file returns."""
        result = self.run(python_item(source, *others), **arguments)
        assert result.outcome is Outcome.OK, result
        assert result.structured is not None
        return result.structured.get("result", result.structured)


def text(result: CallResult) -> str:
    [block] = result.content
    return str(block["text"])
