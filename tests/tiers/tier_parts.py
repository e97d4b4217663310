"""A project, a person's own board and a registry, each with tools of its own."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pegboard.app.pegboard import Pegboard, located
from pegboard.tiers.opening import registry_place, user_place

TOOL = '''"""{description}"""


def run(name: str = "you") -> str:
    """{description}

    Args:
        name: who it is for
    """
    return f"{said}, {{name}}"
'''


def write_tool(folder: Path, path: str, description: str, said: str = "hello") -> Path:
    """`paper/greet` in the folder's `.ai/tools`."""
    file = folder / ".ai" / "tools" / f"{path}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TOOL.format(description=description, said=said), "utf-8")
    return file


def fill(board: Pegboard, folder: Path, namespace: str = "public") -> None:
    name = f"{folder.name}-{namespace}".replace("/", "-").lower()
    if (folder / ".ai").is_dir():
        board.add_folder(folder / ".ai", name=name, namespace=namespace)
        board.sync()


class Desk(NamedTuple):
    project: Path
    home: Path
    """Where what comes to the user's board is."""
    shared: Path
    """Where what comes to the registry is."""

    def tool(self, tier: str, path: str, description: str, said: str = "hello") -> Path:
        folder = {"project": self.project, "user": self.home, "registry": self.shared}[tier]
        return write_tool(folder, path, description, said)

    def fill(self, namespace: str = "public") -> None:
        """The boards of all tiers, from their folders."""
        place = located()
        with Pegboard.at(place, create=True) as board:
            fill(board, self.project)
        if (self.home / ".ai").is_dir():
            with Pegboard.at(user_place(place), create=True) as board:
                fill(board, self.home)
        if place.settings.registry.url:
            with Pegboard.at(registry_place(place), create=True) as board:
                fill(board, self.shared, namespace)


@contextmanager
def silent_server() -> Iterator[int]:
    """Accepts and never answers; its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                kept.append(listening.accept()[0])
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for each in kept:
            each.close()


def command(*args: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own, to its very end."""
    return subprocess.run(
        [sys.executable, "-m", "pegboard", *args],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environ,
        check=False,
    )
