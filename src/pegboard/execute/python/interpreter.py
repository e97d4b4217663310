"""The Python that tools run on: the one that Pegboard runs on, without Pegboard's packages."""

import platform
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple


class Interpreter(NamedTuple):
    executable: Path
    version: str
    shown: tuple[Path, ...]
    """Where it and its standard library lie."""

    @property
    def identity(self) -> tuple[str, ...]:
        """What decides whether packages made for one interpreter fit another."""
        return str(self.executable), self.version, sysconfig.get_platform()


def base_interpreter() -> Interpreter:
    """Not that of a virtual environment, but the one that it was made from."""
    executable = Path(getattr(sys, "_base_executable", "") or sys.executable)
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    places = [
        Path(sys.base_prefix),
        Path(sys.base_exec_prefix),
        Path(paths["stdlib"]),
        Path(paths["platstdlib"]),
        executable,
        executable.resolve(),
    ]
    shown: list[Path] = []
    for place in dict.fromkeys(places):
        if place.exists() and not any(place.is_relative_to(each) for each in shown):
            shown.append(place)
    return Interpreter(executable, platform.python_version(), tuple(shown))
