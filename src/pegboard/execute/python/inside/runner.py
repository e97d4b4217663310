"""Runs one file: calls a function of it with the arguments, or runs all of it as a script.

What a function returns goes to the file that the process is told to answer in, under a name that
no tool uses, RESULT; so do a failure, as ERROR, and that declared types refuse the arguments, as
INVALID. What a script answers is its own affair, unless it fails.
"""

import builtins
import sys
from io import BufferedRandom, BufferedWriter, TextIOWrapper

from .made import keywords
from .values import Unfit, as_json, quoted

TYPE_CHECKING = False  # that of `typing` would have to be loaded
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import CodeType, ModuleType, TracebackType
    from typing import Any, NoReturn

NAME = "__mp_main__"
"""What multiprocessing calls a main module that is not to run as one."""
ENTRY = "run"
RESULT, ERROR, INVALID = "pegboard:result", "pegboard:error", "pegboard:invalid"
MOST_MESSAGE = 64_000
FAILED = 1
_NEW_LOCALS = 2
_PLAIN = {"str", "int", "float", "bool", "list", "dict", "object", "None", "NoneType"}


def main(code: "CodeType | None") -> None:
    """The code of the file, unless it is still to be compiled.

    Arguments: where this lies, the file, where it imports from, if at all, and the function.
    """
    file, folder, function = sys.argv[2:5]
    sys.path[:0] = [folder] if folder else []
    sys.argv = [file]
    sys.excepthook = _Failure(file)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # as `site` does
    if code is None:
        code = compile(_content(file), file, "exec", dont_inherit=True)
    arguments = _arguments()
    if function or _defines(code, ENTRY):
        _call(_loaded(code, NAME, file), function or ENTRY, arguments)
        _leave()
    else:
        words = arguments.get("arguments")
        sys.argv += map(str, words) if isinstance(words, list) else []
        _loaded(code, "__main__", file)


def _defines(code: "CodeType", name: str) -> bool:
    """Whether it has such a function outside of all others, and of all classes."""
    return any(
        getattr(each, "co_name", "") == name and each.co_flags & _NEW_LOCALS
        for each in code.co_consts
    )


def _loaded(code: "CodeType", name: str, file: str) -> "ModuleType":
    module = type(sys)(name)
    module.__file__ = file
    sys.modules[name] = sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 - what it is here for
    return module


def _call(module: "ModuleType", name: str, arguments: dict[str, object]) -> None:
    function: Any = module.__dict__.get(name)
    if not callable(function):
        _give_up(ERROR, f"the file has no function {name!r}; define it, or name another")
    if not all(_is_plain(each) for each in _annotations(function, arguments)):
        arguments = _made(function, arguments)
    result = function(*_positional(function, arguments), **arguments)
    if hasattr(type(result), "__await__"):
        import asyncio

        result = asyncio.run(_awaited(result))
    try:
        text = as_json(result)
    except Unfit as error:
        _give_up(ERROR, str(error))
    _write(f'{{"{RESULT}":{text}}}')


async def _awaited(result: "Awaitable[object]") -> object:
    return await result


def _annotations(function: "Callable[..., object]", names: dict[str, object]) -> "list[object]":
    """Of those parameters; they may be wrong in any way."""
    try:
        said = getattr(function, "__annotations__", {}) if hasattr(function, "__code__") else {}
        return [said[name] for name in names if name in said]
    except (NameError, TypeError, AttributeError):
        return []


def _is_plain(annotation: object) -> bool:
    """Whether JSON has such values, as far as can be said without `typing`."""
    if isinstance(annotation, type) and type(annotation) is type:
        text = annotation.__name__
    else:
        text = annotation if isinstance(annotation, str) else repr(annotation)
    for sign in "[]|,":
        text = text.replace(sign, " ")
    return _PLAIN.issuperset(text.split())


def _made(function: "Callable[..., object]", arguments: dict[str, object]) -> dict[str, object]:
    try:
        return keywords(function, arguments)
    except (ValueError, TypeError, ArithmeticError) as error:
        _give_up(INVALID, f"{type(error).__name__}: {error}")


def _positional(function: "Callable[..., object]", arguments: dict[str, object]) -> list[object]:
    """Taken out of the keywords: parameters that cannot be named in a call."""
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_posonlyargcount] if code is not None else ()
    return [arguments.pop(name) for name in names if name in arguments]


def _arguments() -> dict[str, object]:
    text = _content(_told("PEGBOARD_ARGUMENTS")).decode()
    try:
        from _json import make_scanner

        how: Any = _AsUsual()
        read, end = make_scanner(how)(text, 0)
        if end == len(text):
            return dict(read)
    except (ImportError, AttributeError, TypeError, StopIteration):
        pass  # another Python may have it otherwise
    import json

    return dict(json.loads(text))


def _content(path: str) -> bytes:
    with open(path, "rb", 0) as file:  # noqa: PTH123 - pathlib takes long to load
        return file.read()


class _AsUsual:
    """What `json.loads` tells its scanner."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _told(name: str) -> str:
    from posix import environ  # that of `os` takes longer to load

    return environ[name.encode()].decode(sys.getfilesystemencoding(), "surrogateescape")


def _give_up(what: str, text: str) -> "NoReturn":
    _write(f'{{"{what}":{quoted(text[:MOST_MESSAGE])}}}')
    sys.exit(FAILED)


def _write(text: str) -> None:
    with open(_told("PEGBOARD_ANSWER"), "wb") as file:  # noqa: PTH123
        file.write(text.encode())


class _Failure:
    """Tells of an exception that nobody caught, without the frames that are not the tool's."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
    ) -> None:
        from traceback import TracebackException

        while trace is not None and trace.tb_frame.f_code.co_filename != self._file:
            trace = trace.tb_next
        told = TracebackException(kind, error, trace, compact=True)
        sys.stderr.write("".join(told.format()).replace(f"{NAME}.", ""))
        _give_up(ERROR, f"{kind.__qualname__}: {told}".removesuffix(": "))


def _leave() -> None:
    """At once, if nothing is left to do: to take everything apart takes a tenth of a call.

    A usual end would write to the disk what files hold that were not closed. Two are the outputs.
    """
    import atexit
    import gc

    kinds = [*map(type, gc.get_objects())]
    held = kinds.count(BufferedWriter) > 2 or BufferedRandom in kinds
    if held or atexit._ncallbacks() or sys.modules.keys() & {"threading", "ctypes"}:
        return
    from posix import _exit

    try:
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError, AttributeError):
        return
    _exit(0)
