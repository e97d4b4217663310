"""Real MCP servers, as `make parts` installs them, and the configuration of each."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pegboard.calls import ServerConfig, Transport

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
