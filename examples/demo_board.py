"""The board that the examples work on, and the program that serves it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEMO = Path(__file__).parent.parent / "demo"


def pegboard() -> str:
    """The one that is installed beside this Python, or else the first on the path."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return shutil.which("pegboard", path=os.pathsep.join(places)) or sys.exit(
        "there is no pegboard: install it with pip into the environment that runs this"
    )


@contextmanager
def board_from(arguments: list[str]) -> Iterator[str]:
    """The board that the command line names, or else one with the demo's tools, for this run."""
    if arguments:
        yield arguments[0]
        return
    with tempfile.TemporaryDirectory() as folder:
        board = str(Path(folder) / "board.db")
        for command in (["init"], ["add", "folder", str(DEMO)]):
            subprocess.run(
                [pegboard(), *command, "--board", board], check=True, stdout=subprocess.DEVNULL
            )
        yield board
