"""A tool's file and what runs around it, compiled, in one file that its process begins with.

Loading and compiling them there would take a fifth of the whole call: Python makes a hundred
classes before it compiles anything.
"""

import hashlib
import marshal
import re
import threading
import warnings
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType

from pegboard.model.content import ItemFile

START = """import sys, marshal
with open(sys.argv[1], "rb", 0) as file:
    parts, code = marshal.loads(file.read())
for name, part in parts:
    module = sys.modules[name] = type(sys)(name)
    module.__package__ = name.rpartition(".")[0]
    exec(part, module.__dict__)
module.main(code)
"""
PARTS = ("values", "made", "runner")
"""Each needs only those before it."""
MOST_COMPILED = 128_000
"""Bytes of a file. To compile a longer one would hold up everything else here."""

_INSIDE = Path(__file__).parent / "inside"
_NOT_COMPILED = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError, SystemError)
_compiling = threading.Lock()


@lru_cache(maxsize=64)
def bundle(source: bytes, file: str) -> ItemFile:
    """Without the tool's own code if that cannot be compiled: its process will say why."""
    code = None
    if len(source) <= MOST_COMPILED:
        with suppress(*_NOT_COMPILED):
            code = _compiled_quietly(source, file)
    content = marshal.dumps((_parts(), code))
    return ItemFile("tool", content, hashlib.sha256(content).hexdigest())


@cache
def _parts() -> list[tuple[str, CodeType]]:
    return [
        (f"pegboard_inside.{name}", _compiled((_INSIDE / f"{name}.py").read_bytes(), f"<{name}>"))
        for name in PARTS
    ]


def _compiled_quietly(source: bytes, file: str) -> CodeType:
    """Without warnings about the source. Filters are global; this one names only this file."""
    with _compiling, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=re.escape(file.removesuffix(".py")))
        return _compiled(source, file)


def _compiled(source: bytes, file: str) -> CodeType:
    return compile(source, file, "exec", dont_inherit=True)
