"""Commands as a page shows them, with what it says that they print."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```(?:console)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_UNTIL = re.compile(r"<<'?(\w+)'?$")
_DECIMAL = re.compile(r"\b\d\.\d\d\b")
NEAR = 0.03
"""Vectors differ a little between processors, and scores with them."""


class Shown(NamedTuple):
    command: str
    output: str


def transcript(page: str) -> list[Shown]:
    """Every command behind a `$ ` in a block of the page, with the lines below it."""
    return [shown for block in _BLOCK.findall(page) for shown in _commands(block)]


def _commands(block: str) -> Iterator[Shown]:
    lines = iter([*block.splitlines(), "$ "])
    command, output = "", list[str]()
    for line in lines:
        if not line.startswith("$ "):
            output.append(line)
            continue
        if command:
            yield Shown(command, "\n".join(output).strip("\n"))
        command, output = line.removeprefix("$ "), []
        if here := _UNTIL.search(command):
            for inner in lines:
                command += f"\n{inner}"
                if inner == here.group(1):
                    break


def printed(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What it prints in this folder, errors and notes too, as a terminal would show it."""
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
    )
    return ran.stdout.replace(str(folder), "/path/to/my-project").strip("\n")


def differs(shown: str, came: str) -> bool:
    """Whether a reader would see something else than the page shows."""
    if _DECIMAL.sub("#", shown) != _DECIMAL.sub("#", came):
        return True
    pairs = zip(_DECIMAL.findall(shown), _DECIMAL.findall(came), strict=True)
    return any(abs(float(a) - float(b)) > NEAR for a, b in pairs)
