"""Python files as tools: `mcptools/<category>/<tool>.py` and `gentools/<category>/<tool>/api.py`.

Files are read and parsed, never imported.
"""

import ast
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pegboard.errors import SourceError
from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, Finding, Kind, LeftOut, ToolType, Unchanged
from pegboard.sources.python import docstring, signature, syntax
from pegboard.sources.python.module import python_module
from pegboard.sources.tree import Tree, Wanted, cause, printable
from pegboard.sources.unfit import Unfit

GENERATED = "gentools"
WRITTEN = "mcptools"
FUNCTIONS = ("run", "run_parsed")


class PytoolsSource(Tree):
    def __init__(
        self, name: str, root: Path, *, namespace: str, max_file_bytes: int = 1 << 20
    ) -> None:
        super().__init__(name, root, max_file_bytes)
        self._namespace = namespace

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        try:
            with os.scandir(self._root) as entries:
                present = {entry.name for entry in entries}
            layouts = [name for name in (GENERATED, WRITTEN) if name in present]
            usable = any((self._root / layout).is_dir() for layout in layouts)
        except OSError as error:
            raise SourceError(
                f"the folder {printable(str(self._root))} cannot be read: {cause(error)}",
                hint=f"give an existing folder that holds {WRITTEN}/ or {GENERATED}/",
            ) from error
        if not usable:
            raise SourceError(
                f"{printable(str(self._root))} holds neither {WRITTEN}/ nor {GENERATED}/",
                hint=f"give the folder that {self._root.name}/ stands in"
                if self._root.name in (WRITTEN, GENERATED)
                else f"put tools into {WRITTEN}/<category>/<tool>.py, or give another folder",
            )
        wanted = Wanted(under)
        return (
            finding
            for layout in wanted.among("", layouts)
            for finding in self._layout(layout, known, wanted)
        )

    def _layout(self, layout: str, known: Mapping[str, str], wanted: Wanted) -> Iterator[Finding]:
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
        except Unfit as unfit:
            return self._rejected(origin, digest, unfit.code, unfit.reason)
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


def _fields(content: bytes, file_name: str) -> dict[str, object]:
    """What the file itself says about the tool."""
    module = python_module(content)
    functions = {
        node.name: node
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in FUNCTIONS
    }
    if not functions:
        raise Unfit("no_run", "no function run or run_parsed is at top level; define one")
    found = [functions[name] for name in FUNCTIONS if name in functions]
    texts = [ast.get_docstring(node, clean=False) or "" for node in found]
    text = next((text for text in texts if text.strip()), "")
    if not text:
        raise Unfit("no_docstring", f"{found[0].name} has no docstring; say what the tool does")
    described = docstring.parse(text)
    names = signature.top_level_names(module)
    fields: dict[str, object] = {
        "description": docstring.clean(text),
        "input_schema": signature.input_schema(found[0], described, names),
        "output_schema": signature.output_schema(found[0], described, names),
        "executor": {"entrypoint": file_name, "function": found[0].name},
    }
    for name in ("tags", "permissions"):
        said = syntax.json_value(_expression(names.get(f"__{name}__")))
        if said and isinstance(said[0], list) and all(isinstance(each, str) for each in said[0]):
            fields[name] = said[0]
    return fields


def _expression(node: ast.AST | None) -> ast.expr | None:
    return node if isinstance(node, ast.expr) else None
