"""A warm call of a Python tool without dependencies, against a bare interpreter that does nothing.

All are new processes, started in turn, so that whatever else the machine does hits all alike. The
bare interpreter is measured as it is installed, with whatever its own packages do at every start,
and in a new virtual environment, where there is nothing but what Python itself does.
"""

import asyncio
import hashlib
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from shutil import which

from pegboard.execute.job import Job, Sandboxing
from pegboard.execute.process.processes import Processes
from pegboard.execute.python.environments import Environments
from pegboard.execute.python.executor import PythonExecutor
from pegboard.execute.python.interpreter import Interpreter, base_interpreter
from pegboard.execute.secrets import Secrets
from pegboard.execute.unpacked import Unpacked
from pegboard.model.calls import Outcome
from pegboard.model.content import ItemFile, Version
from pegboard.model.items import Item, ItemId
from report import at_most, parser, save

PATH = "/usr/local/bin:/usr/bin:/bin"
LIMIT = 1.5
TOOL = b'''"""Plans a walk."""


def run(city: str, days: int = 3, stops: list[str] | None = None) -> dict:
    """Plan a walk through a city."""
    print("planning", city)
    return {"city": city, "days": days, "stops": [each.title() for each in stops or []]}
'''


BARE = "python -c pass, as it is installed"
CLEAN = "python -c pass, without any packages"
IN_BUBBLEWRAP = "bubblewrap and python -c pass, without any packages"
OPEN = "a call without sandbox"
SANDBOX = "a call in the sandbox"


def main() -> None:
    args = parser(__doc__, runs=150)
    with tempfile.TemporaryDirectory() as folder:
        seconds = asyncio.run(measured(Path(folder), args.runs))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratios = {
        against: {name: round(each / medians[against], 3) for name, each in medians.items()}
        for against in (BARE, CLEAN)
    }
    save(
        args,
        "run_python",
        {
            "runs": args.runs,
            "ratios": ratios,
            "median ms": {name: round(1000 * each, 1) for name, each in medians.items()},
            "checks": {
                f"{name} / {against}": at_most(ratios[against][name], LIMIT)
                for against in ratios
                for name in (OPEN, SANDBOX)
                if name in medians
            },
        },
    )


async def measured(folder: Path, runs: int) -> dict[str, list[float]]:
    python = base_interpreter()
    environ = {"PATH": PATH}
    clean = folder / "clean"
    made = [str(python.executable), "-m", "venv", "--without-pip", str(clean)]
    subprocess.run(made, check=True)
    processes = Processes(scratch=folder / "scratch", environ=environ)
    executor = PythonExecutor(
        processes,
        Unpacked(folder / "files"),
        Environments(folder / "environments", environ, python),
        python,
    )
    commands = {
        BARE: [str(python.executable), "-c", "pass"],
        CLEAN: [str(clean / "bin" / "python"), "-c", "pass"],
    }
    calls = {OPEN: Sandboxing.OFF}
    if wrapped := in_bubblewrap(clean, python):
        commands[IN_BUBBLEWRAP] = wrapped
        calls[SANDBOX] = Sandboxing.REQUIRE
    seconds: dict[str, list[float]] = {name: [] for name in (*commands, *calls)}
    for turn in range(runs + 1):
        for name, command in commands.items():
            took = timed(command)
            seconds[name] += [took] if turn else []
        for name, sandboxing in calls.items():
            took = await called(executor, sandboxing)
            seconds[name] += [took] if turn else []
    processes.close()
    return seconds


def in_bubblewrap(clean: Path, python: Interpreter) -> list[str]:
    """With as little as it takes; nothing if it is not there."""
    bubblewrap = which("bwrap", path=PATH)
    links = [path for path in map(Path, ("/bin", "/lib", "/lib64")) if path.is_symlink()]
    shown = ["/usr", *map(str, python.shown), str(clean)]
    options = [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *(part for path in links for part in ("--symlink", str(path.readlink()), str(path))),
        *(part for path in shown for part in ("--ro-bind", path, path)),
    ]
    command = ["--", str(clean / "bin" / "python"), "-c", "pass"]
    return [bubblewrap, *options, *command] if bubblewrap else []


def timed(command: list[str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{command} failed: {done.stderr.decode()}")
    return seconds


async def called(executor: PythonExecutor, sandboxing: Sandboxing) -> float:
    file = ItemFile("walk.py", TOOL, hashlib.sha256(TOOL).hexdigest())
    item = Item(
        id=ItemId("mcptools:travel:walk"),
        name="walk",
        executor={"entrypoint": "walk.py", "function": "run"},
        version=Version("1.0.0", "", files=(file,)),
    )
    said = {"city": "Ulm", "stops": ["minster", "river"]}
    job = Job(item, said, Secrets(), sandboxing=sandboxing)
    began = time.perf_counter()
    result = await executor.run(job)
    seconds = time.perf_counter() - began
    if result.outcome is not Outcome.OK or result.structured is None:
        raise SystemExit(f"the call failed: {result}")
    return seconds


if __name__ == "__main__":
    main()
