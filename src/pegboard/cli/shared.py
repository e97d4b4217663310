"""What every command has in common: its options, its progress bar, its way to stop."""

import contextlib
import functools
import math
import queue
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ParamSpec, TypeVar

import click

from pegboard.errors import UsageError
from pegboard.ports.stages import Progress, quiet

NO_SOURCE = "this board has no source yet; add one with: pegboard add folder, openapi or mcp"

UNITS = {"h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0}
MOST_SECONDS = 3_650 * UNITS["d"]
NEVER = "never"

P = ParamSpec("P")
R = TypeVar("R")

board_option = click.option(
    "--board",
    metavar="PLACE",
    help="The board's file, or postgresql://user@host/database. "
    "Default: .pegboard/board.db of the project around the working folder.",
)
no_embed_option = click.option("--no-embed", is_flag=True, help="Leave the vectors to a worker.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


class NumberRange(click.FloatRange):
    """Without nan, which is not beyond any bound, and within none."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value!r} is not in the range {self._describe_range()}.", param, ctx)
        return found


def command_options(command: Callable[P, R]) -> Callable[P, R]:
    """`--board` and `--json`."""
    return functools.wraps(command)(board_option(json_option(command)))


def expires_option(default: str = NEVER) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`--expires`: after how many seconds; None for never."""
    return click.option(
        "--expires",
        default=default,
        show_default=True,
        metavar="TIME",
        callback=_expiry,
        help=f"12h, 90d, 4w, or {NEVER}.",
    )


def _expiry(context: click.Context, parameter: click.Parameter, said: str) -> float | None:
    if said == NEVER:
        return None
    found = re.fullmatch(r"([0-9]{1,6})([hdw])", said)
    seconds = int(found[1]) * UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(
            f"--expires is {said[:40]!r}", f"write 12h, 90d or 4w, at most ten years, or {NEVER}"
        )
    return seconds


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
