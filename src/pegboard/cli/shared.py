"""What every command has in common: its options, its progress bar, its way to stop."""

import contextlib
import functools
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ParamSpec, TypeVar

import click

from pegboard.ports.stages import Progress, quiet

NO_SOURCE = "this board has no source yet; add one with: pegboard add folder, openapi or mcp"

P = ParamSpec("P")
R = TypeVar("R")

board_option = click.option(
    "--board",
    metavar="PLACE",
    help="The board's file, or postgresql://user@host/database. "
    "Default: .pegboard/board.db of the project around the working folder.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def command_options(command: Callable[P, R]) -> Callable[P, R]:
    """`--board` and `--json`."""
    return functools.wraps(command)(board_option(json_option(command)))


@contextlib.contextmanager
def progress_bar(show: bool) -> Iterator[Progress]:
    """A bar for each step on a terminal; nothing when the output is for programs or a file."""
    if not show or not sys.stderr.isatty():
        yield quiet
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bars:
        tasks: dict[str, int] = {}

        def report(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(bars.task_ids[tasks[step]], completed=done, total=total)

        yield report


@contextlib.contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """The first SIGINT or SIGTERM asks for a stop after the batch in hand; a second one insists.

    A handler runs inside whatever the main thread is doing, perhaps inside `stop.wait`, whose lock
    it must not touch. So it only leaves a note, and a thread sets the event.
    """
    stop = threading.Event()
    notes: queue.SimpleQueue[bool] = queue.SimpleQueue()
    asked: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        notes.put(True)

    def pass_on() -> None:
        if notes.get():
            stop.set()

    messenger = threading.Thread(target=pass_on, daemon=True)
    messenger.start()
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        notes.put(False)
        messenger.join()


def notice(*texts: str) -> None:
    for text in texts:
        click.secho(f"note: {text}", fg="yellow", err=True)


def login_name() -> str:
    """Whose decision it is, unless somebody says otherwise."""
    import getpass  # nothing else needs it

    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return ""
