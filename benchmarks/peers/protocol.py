"""How the comparison talks with a peer: JSON, one object a line, over the peer's input and output.

A peer runs in an environment of its own, so this file needs nothing but Python. The clock runs
here, around the peer's own call: neither the lines nor what prepares a call are in its time.
"""

import base64
import json
import os
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class Tool(NamedTuple):
    """A tool as every peer is given it."""

    handle: str
    """`category_name`, of letters, digits and underscores; no two tools share one."""
    category: str
    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema."""
    text: str
    """What Pegboard embeds of it."""
    vector: str
    """What Pegboard's model made of that: 32-bit numbers in base64."""


class Wire:
    """The line to the comparison. What else a peer prints goes to standard error."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def requests(self) -> Iterator[dict[str, Any]]:
        yield from map(json.loads, iter(sys.stdin.readline, ""))

    def say(self, answer: dict[str, Any]) -> None:
        self._out.write(json.dumps(answer) + "\n")
        self._out.flush()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of Pegboard's model, which the comparison has loaded."""
        self.say({"embed": list(texts)})
        answer = json.loads(sys.stdin.readline())
        return [unpacked(vector) for vector in answer["vectors"]]


class Peer(Protocol):
    version: str

    def prepare(self, tools: list[Tool], catalogue: Path, folder: Path, wire: Wire) -> None:
        """Whatever is there before indexing begins, such as files and vectors. Not timed."""

    def index(self, folder: Path) -> None:
        """All tools, until they can be found. Timed."""

    def open(self, folder: Path, tools: Path) -> None:
        """What another process indexed. Not timed; what it adds to memory is counted."""

    def search(self, text: str, vector: str) -> list[str]:
        """What the peer calls the tools it finds, ten at most, best first. Timed."""


def serve(made: Callable[[], Peer]) -> None:
    """Answer requests until there are no more."""
    wire = Wire()
    peer = made()
    before = 0
    for request in wire.requests():
        match request:
            case {"do": "prepare", "tools": tools, "catalogue": catalogue, "folder": folder}:
                peer.prepare(list(read_tools(Path(tools))), Path(catalogue), Path(folder), wire)
                wire.say({"version": peer.version})
            case {"do": "index", "folder": folder}:
                began = time.perf_counter()
                peer.index(Path(folder))
                wire.say({"seconds": time.perf_counter() - began})
            case {"do": "open", "folder": folder, "tools": tools}:
                before = resident()
                peer.open(Path(folder), Path(tools))
                wire.say({})
            case {"do": "search", "text": text, "vector": vector}:
                began, spent = time.perf_counter(), time.process_time()
                found = peer.search(text, vector)
                seconds = time.perf_counter() - began
                processor = time.process_time() - spent
                wire.say({"found": found, "seconds": seconds, "processor": processor})
            case {"do": "weigh"}:
                wire.say({"bytes": resident() - before})
            case _:
                raise SystemExit(f"a request that is not known: {request}")


def read_tools(path: Path) -> Iterator[Tool]:
    with path.open(encoding="utf-8") as lines:
        yield from (Tool(**json.loads(line)) for line in lines)


def packed(vector: bytes) -> str:
    return base64.b64encode(vector).decode("ascii")


def bytes_of(vector: str) -> bytes:
    return base64.b64decode(vector)


def unpacked(vector: str) -> list[float]:
    return array("f", bytes_of(vector)).tolist()


def resident() -> int:
    """Bytes of this process in memory. Linux only: elsewhere 0."""
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
