"""Real MCP servers, as `make parts` installs them, and the configuration of each."""

import os
import shutil
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from pegboard.model.calls import ServerConfig, Transport

PARTS = Path(__file__).parents[1] / "build" / "parts"
NPM = PARTS / "npm" / "node_modules" / ".bin"
PYTHON = PARTS / "servers" / "bin"


def part(folder: Path, name: str) -> str:
    if not (folder / name).exists() or shutil.which("node") is None:
        pytest.fail(f"{name} is not installed; run: make parts")
    return str(folder / name)


def stdio(name: str, command: str, *args: str, **fields) -> ServerConfig:
    return ServerConfig(name, Transport.STDIO, command=command, args=args, **fields)


def everything(name: str = "everything", **fields) -> ServerConfig:
    """Every feature of the protocol: progress, images, structured content, links."""
    return stdio(name, part(NPM, "mcp-server-everything"), **fields)


def filesystem(folder: Path, name: str = "filesystem", **fields) -> ServerConfig:
    return stdio(name, part(NPM, "mcp-server-filesystem"), str(folder), **fields)


def memory(file: Path, name: str = "memory", **fields) -> ServerConfig:
    env = {"MEMORY_FILE_PATH": str(file)}
    return stdio(name, part(NPM, "mcp-server-memory"), env=env, **fields)


def clock(name: str = "time", **fields) -> ServerConfig:
    command = part(PYTHON, "mcp-server-time")
    return stdio(name, command, "--local-timezone", "Europe/Zurich", **fields)


def git(folder: Path, name: str = "git", **fields) -> ServerConfig:
    """A repository is made if there is none."""
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return stdio(name, part(PYTHON, "mcp-server-git"), "--repository", str(folder), **fields)


def fetch(name: str = "fetch", **fields) -> ServerConfig:
    return stdio(name, part(PYTHON, "mcp-server-fetch"), **fields)


def all_six(folder: Path) -> list[ServerConfig]:
    (folder / "files").mkdir()
    (folder / "repository").mkdir()
    return [
        everything(),
        filesystem(folder / "files"),
        memory(folder / "memory.jsonl"),
        clock(),
        git(folder / "repository"),
        fetch(),
    ]


class Background:
    """A server of its own that listens on a port, until it is stopped."""

    def __init__(self, command: list[str], ready: str, port: int | None = None) -> None:
        self.port = port or free_port()
        self._process = subprocess.Popen(
            [*command, str(self.port)],
            env={"PATH": os.environ["PATH"], "PORT": str(self.port)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        listening = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(ready, listening), daemon=True)
        self._reader.start()
        if not listening.wait(20):
            self.stop()
            pytest.fail(f"{command} did not begin to listen")

    def _read(self, ready: str, listening: threading.Event) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if ready in line:
                listening.set()

    def __enter__(self) -> "Background":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout
        self._process.stdout.close()


def everything_over(transport: Transport, port: int | None = None) -> Background:
    """`server-everything` behind an address: `/mcp` for HTTP, `/sse` for SSE."""
    mode = {Transport.HTTP: "streamableHttp", Transport.SSE: "sse"}[transport]
    return Background([part(NPM, "mcp-server-everything"), mode], "on port", port)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
