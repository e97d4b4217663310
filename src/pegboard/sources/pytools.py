"""Python files as tools: `mcptools/<category>/<tool>.py` and `gentools/<category>/<tool>/api.py`.

Files are read and parsed, never imported.
"""

import ast
import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from pegboard.content import ItemFile
from pegboard.errors import SourceError
from pegboard.model import Candidate, Finding, Kind, LeftOut, Rejection, ToolType, Unchanged
from pegboard.sources import docstring, signature, syntax

GENERATED = "gentools"
WRITTEN = "mcptools"
FUNCTIONS = ("run", "run_parsed")


class PytoolsSource:
    def __init__(
        self, name: str, root: Path, *, namespace: str, max_file_bytes: int = 1 << 20
    ) -> None:
        self._name = name
        self._root = root
        self._namespace = namespace
        self._limit = max_file_bytes

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        try:
            with os.scandir(self._root) as entries:
                present = {entry.name for entry in entries}
            layouts = [name for name in (GENERATED, WRITTEN) if name in present]
            usable = any((self._root / layout).is_dir() for layout in layouts)
        except OSError as error:
            raise SourceError(
                f"the folder {_printable(str(self._root))} cannot be read: {_cause(error)}",
                hint=f"give an existing folder that holds {WRITTEN}/ or {GENERATED}/",
            ) from error
        if not usable:
            raise SourceError(
                f"{_printable(str(self._root))} holds neither {WRITTEN}/ nor {GENERATED}/",
                hint=f"give the folder that {self._root.name}/ stands in"
                if self._root.name in (WRITTEN, GENERATED)
                else f"put tools into {WRITTEN}/<category>/<tool>.py, or give another folder",
            )
        wanted = _Wanted(under)
        return (
            finding
            for layout in wanted.among("", layouts)
            for finding in self._layout(layout, known, wanted)
        )

    def _layout(
        self, layout: str, known: Mapping[str, str], wanted: "_Wanted"
    ) -> Iterator[Finding]:
        if problem := self._folder_problem(layout):
            yield problem
            return
        for category in self._names(layout, wanted):
            if not isinstance(category, str):
                yield category
                continue
            origin = f"{layout}/{category}"
            if problem := self._folder_problem(origin):
                yield problem
                continue
            for entry in self._names(origin, wanted):
                if not isinstance(entry, str):
                    yield entry
                elif layout == WRITTEN:
                    yield self._written(f"{origin}/{entry}", known)
                else:
                    yield self._generated(f"{origin}/{entry}", known)

    def _names(self, folder: str, wanted: "_Wanted") -> Iterator[str | LeftOut | Rejection]:
        """Sorted names in a folder; those that cannot be a tool or category come as findings."""
        try:
            with os.scandir(self._root / folder) as entries:
                names = sorted(wanted.among(folder, (entry.name for entry in entries)))
        except OSError as error:
            yield self._unreadable(folder, error)
            return
        for name in names:
            origin = f"{folder}/{name}"
            if _printable(name) != name:
                yield self._rejected(
                    _printable(origin), "", "bad_name", "the name is not UTF-8; rename it"
                )
            elif ":" in name:
                reason = "a name with ':' would make the id ambiguous; rename it"
                yield self._rejected(origin, "", "bad_name", reason)
            elif name.startswith(("_", ".")):
                yield LeftOut(origin, "names that start with _ or . are private")
            else:
                yield name

    def _folder_problem(self, origin: str) -> LeftOut | Rejection | None:
        found = self._stat(origin, self._root / origin)
        if not isinstance(found, os.stat_result):
            return found
        if not stat.S_ISDIR(found.st_mode):
            return LeftOut(origin, "a folder was expected here, and this is a file")
        return None

    def _written(self, origin: str, known: Mapping[str, str]) -> Finding:
        category, file_name = origin.split("/")[1:]
        if not file_name.endswith(".py"):
            return LeftOut(origin, "only files that end in .py can be tools here")
        return self._tool(origin, category, file_name.removesuffix(".py"), known)

    def _generated(self, origin: str, known: Mapping[str, str]) -> Finding:
        category, tool = origin.split("/")[1:]
        if problem := self._folder_problem(origin):
            return problem
        try:
            (self._root / origin / "api.py").lstat()
        except FileNotFoundError:
            return LeftOut(origin, "the folder has no api.py")
        except OSError as error:
            return self._unreadable(f"{origin}/api.py", error)
        return self._tool(f"{origin}/api.py", category, tool, known)

    def _tool(self, origin: str, category: str, tool: str, known: Mapping[str, str]) -> Finding:
        path = self._root / origin
        found = self._stat(origin, path)
        if not isinstance(found, os.stat_result):
            return found
        try:
            content = self._content(path, found)
        except OSError as error:
            return self._unreadable(origin, error)
        if content is None:
            digest = f"stat:{found.st_size}:{found.st_mtime_ns}"
        else:
            digest = hashlib.sha256(content).hexdigest()
        if known.get(origin) == digest:
            return Unchanged(origin)
        if content is None:
            reason = f"the file is larger than {self._limit} bytes; make it smaller"
            return self._rejected(origin, digest, "too_large", reason)
        layout, file_name = origin.split("/")[0], origin.split("/")[-1]
        try:
            fields = _fields(content, file_name)
        except _Refused as refusal:
            return self._rejected(origin, digest, refusal.code, refusal.reason)
        return Candidate(
            source=self._name,
            origin=origin,
            origin_hash=digest,
            fields={
                "id": f"{layout}:{category}:{tool}",
                "kind": Kind.TOOL.value,
                "namespace": self._namespace,
                "name": tool,
                "category": category,
                "tool_type": ToolType.PYTHON.value,
                "source_protocol": layout,
                **fields,
            },
            files=(ItemFile(file_name, content, digest, media_type="text/x-python"),),
        )

    def _stat(self, origin: str, path: Path) -> os.stat_result | LeftOut | Rejection:
        """What the path leads to, if it leads nowhere outside the root."""
        try:
            found = path.lstat()
        except FileNotFoundError:
            return LeftOut(origin, "it vanished while the folder was read")
        except OSError as error:
            return self._unreadable(origin, error)
        try:
            if not stat.S_ISLNK(found.st_mode):
                return found
            found = path.stat()
            target = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            return self._unreadable(origin, error)
        if target.is_relative_to(self._root.resolve()):
            return found
        reason = "the link leads out of the source's folder; copy the target into it instead"
        return self._rejected(origin, "", "outside", reason)

    def _content(self, path: Path, found: os.stat_result) -> bytes | None:
        """The file's bytes, or None if there are more than the limit."""
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        if found.st_size > self._limit:
            return None
        with _opened(path) as file:
            content = file.read(found.st_size + 1)
            if len(content) > found.st_size:
                content += file.read(self._limit + 1 - len(content))
        return content if len(content) <= self._limit else None

    def _unreadable(self, origin: str, error: Exception) -> Rejection:
        """Not there, or not a file, is for good; anything else may pass, and is told apart."""
        reason = f"it cannot be read ({_cause(error)}); make it readable, or remove it"
        passing = isinstance(error, OSError) and error.errno not in _FOR_GOOD
        return self._rejected(origin, "", "unreadable" if passing else "not_a_file", reason)

    def _rejected(self, origin: str, digest: str, code: str, reason: str) -> Rejection:
        return Rejection(
            source=self._name, origin=origin, origin_hash=digest, code=code, reason=reason
        )


class _Wanted:
    """Which names a scan looks at: all, or those on the way to some paths and under them.

    Folders are listed whole all the same, so that a name is only looked at if it is really there:
    a file system that ignores case would find it under any spelling.
    """

    def __init__(self, under: Sequence[str]) -> None:
        paths = {tuple(part for part in path.split("/") if part) for path in under}
        self._whole = {"/".join(path) for path in paths} if paths else {""}
        self._names: dict[str, set[str]] = {}
        for path in paths:
            for depth, name in enumerate(path):
                self._names.setdefault("/".join(path[:depth]), set()).add(name)

    def among(self, folder: str, names: Iterable[str]) -> Iterable[str]:
        if self._covers(folder):
            return names
        some = self._names.get(folder, set())
        return [name for name in names if name in some]

    def _covers(self, folder: str) -> bool:
        parts = folder.split("/")
        return "" in self._whole or any(
            "/".join(parts[:depth]) in self._whole for depth in range(1, len(parts) + 1)
        )


def _opened(path: Path) -> IO[bytes]:
    """What is opened may not be what was looked at: a pipe would keep us waiting."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


_BINARY = getattr(os, "O_BINARY", 0)
_FOR_GOOD = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)


class _Refused(Exception):
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def _fields(content: bytes, file_name: str) -> dict[str, object]:
    """What the file itself says about the tool."""
    module = _module(content)
    functions = {
        node.name: node
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in FUNCTIONS
    }
    if not functions:
        raise _Refused("no_run", "no function run or run_parsed is at top level; define one")
    found = [functions[name] for name in FUNCTIONS if name in functions]
    texts = [ast.get_docstring(node, clean=False) or "" for node in found]
    text = next((text for text in texts if text.strip()), "")
    if not text:
        raise _Refused("no_docstring", f"{found[0].name} has no docstring; say what the tool does")
    described = docstring.parse(text)
    names = signature.top_level_names(module)
    fields: dict[str, object] = {
        "description": docstring.clean(text),
        "input_schema": signature.input_schema(found[0], described, names),
        "output_schema": signature.output_schema(found[0], described, names),
        "executor": {"entrypoint": file_name, "function": found[0].name},
    }
    tags = syntax.json_value(_expression(names.get("__tags__")))
    if tags and isinstance(tags[0], list) and all(isinstance(tag, str) for tag in tags[0]):
        fields["tags"] = tags[0]
    return fields


def _module(content: bytes) -> ast.Module:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8; save the file as UTF-8."
        raise _Refused("not_utf8", reason) from error
    if "\0" in text:
        raise _Refused("null_bytes", "the file holds null bytes; save it as plain text")
    try:
        return syntax.parse_quietly(text)
    except SyntaxError as error:
        reason = f"line {error.lineno or 1} is not valid Python ({error.msg}); correct it"
        raise _Refused("syntax_error", reason) from error
    except syntax.TOO_DEEP as error:
        reason = "the code is nested too deeply to be parsed; write it in smaller steps"
        raise _Refused("too_deep", reason) from error


def _expression(node: ast.AST | None) -> ast.expr | None:
    return node if isinstance(node, ast.expr) else None


def _printable(name: str) -> str:
    """The name with the bytes that are not UTF-8 as backslash escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _cause(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or type(error).__name__
