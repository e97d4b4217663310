"""A company: a registry behind a gateway, and people with projects, each a process of their own.

Between them and the gateway is a wire that can be cut at any byte, and the gateway killed there.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from releasing_parts import GREET, write

from pegboard.board.trust.keyring import Keyring

BOUND = 60.0
PATH = ".ai/tools/paper/greet.py"
REFERENCE = "team-a/tools:paper:greet"


class Person:
    """Somebody with a home and a project, who gives commands."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder / "project"
        self.folder.mkdir(parents=True)
        home = folder / "home"
        self.environ = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "PEGBOARD_EMBED_PROVIDER": "test",
            **environ,
        }

    def start(self, *args: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "pegboard", *args],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def says(self, *args: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a command."""
        process = self.start(*args)
        out, err = process.communicate(timeout=BOUND)
        return process.returncode, out, err

    def does(self, *args: str) -> str:
        code, out, err = self.says(*args)
        assert code == 0, f"pegboard {' '.join(args)}: {code}\n{out}{err}"
        return out

    def tells(self, *args: str) -> Any:
        return json.loads(self.does(*args, "--json"))

    def begin(self) -> None:
        fold = GREET.replace("Greet", "Fold paper for")
        write(self.folder, {"pegboard.toml": "", ".ai/tools/paper/fold.py": fold})
        self.does("rebuild")

    @property
    def keyring(self) -> Keyring:
        return Keyring(Path(self.environ["XDG_DATA_HOME"]) / "pegboard")

    def write(self, text: str) -> None:
        write(self.folder, {PATH: text})


class Registry(Person):
    """Whoever runs the gateway."""

    def __init__(self, folder: Path, board: str, **environ: str) -> None:
        super().__init__(folder, **environ)
        self.board = board
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def up(self) -> None:
        self.process = self.start(
            "serve", "--json", "--no-watch", "--port", str(self.port), "--board", self.board
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.communicate(timeout=BOUND)[1]
        self.port = int(json.loads(line)["url"].rpartition(":")[2])

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.communicate(timeout=BOUND)
            self.process = None

    def token(self, name: str, role: str = "author") -> str:
        said = ("--role", role, "--namespace", "team-a", "--name", name, "--board", self.board)
        return str(self.tells("token", "new", *said)["token"])


class Wire:
    """Passes bytes on between people and the registry; `cut` kills the registry on the way."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.cut: tuple[str, int] | None = None
        """Which way (`there` or `back`), and after how many bytes on that connection."""
        self.was_cut = threading.Event()
        """Set once the registry was killed."""
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut_after(self, way: str, passed: int) -> None:
        self.was_cut.clear()
        self.cut = (way, passed)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        place = ("127.0.0.1", self._registry.port)
        with client, contextlib.suppress(OSError), socket.create_connection(place) as server:
            self._both_ways(client, server)

    def _both_ways(self, client: socket.socket, server: socket.socket) -> None:
        passed = {"there": 0, "back": 0}
        ways = {client: ("there", server), server: ("back", client)}
        with selectors.DefaultSelector() as ready:
            for each in ways:
                ready.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select(BOUND):
                    one = key.fileobj
                    assert isinstance(one, socket.socket)
                    way, other = ways[one]
                    content = one.recv(65_536)
                    if not content:
                        return
                    passed[way] += len(content)
                    if self.cut and self.cut[0] == way and passed[way] >= self.cut[1]:
                        left = self.cut[1] - (passed[way] - len(content))
                        other.sendall(content[: max(left, 0)])
                        self.cut = None
                        self._registry.kill()
                        self.was_cut.set()
                        return
                    other.sendall(content)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)  # which also ends the wait for the next one
        self._socket.close()
        self._thread.join(BOUND)


class Company:
    def __init__(self, folder: Path, board: str) -> None:
        self.registry = Registry(folder / "registry", board)
        self.registry.does("init", "--board", board)
        self.wire = Wire(self.registry)
        self.registry.environ["PEGBOARD_SERVE_HOSTS"] = f"127.0.0.1:{self.wire.port}"
        self.registry.up()
        self.people = [
            Person(
                folder / name,
                PEGBOARD_REGISTRY_URL=self.wire.url,
                PEGBOARD_REGISTRY_TOKEN=self.registry.token(name),
                PEGBOARD_REGISTRY_NAMESPACE="team-a",
            )
            for name in ("ada", "bob", "eve")
        ]
        ada, *others = self.people
        for person in self.people:
            person.begin()
        key = ada.keyring.new("ada")
        for person in (self.registry, *others):
            person.keyring.trust(key._replace(namespaces=("team-a",)))

    def again(self) -> None:
        """The registry is there again, whatever became of it."""
        self.wire.cut = None
        self.registry.kill()
        self.registry.up()

    def close(self) -> None:
        self.registry.kill()
        self.wire.close()


@contextlib.contextmanager
def company(folder: Path, board: str) -> Iterator[Company]:
    made = Company(folder, board)
    try:
        yield made
    finally:
        made.close()
