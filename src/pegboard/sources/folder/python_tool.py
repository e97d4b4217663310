"""A single Python file as a tool: what a manifest would have said, read from the file itself.

Its headers are module-level names such as `__version__`, given as literals. Nothing is run.
"""

import ast
import re
from collections.abc import Mapping, Sequence

from pegboard.formats.script_block import BadScriptBlock, script_block
from pegboard.model.items import ToolType
from pegboard.sources.python import docstring, signature, syntax
from pegboard.sources.python.docstring import Docstring
from pegboard.sources.python.module import python_module
from pegboard.sources.python.signature import Function, Names
from pegboard.sources.unfit import Unfit

ENTRY = "run"

_TEXTS = ("tool_id", "name", "title", "version", "description", "category", "author", "tool_type")
_LISTS = ("tags", "aliases", "keywords", "tech_stack", "skills", "permissions", "dependencies")
_SHORT_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_ARGUMENTS = {
    "type": "object",
    "properties": {
        "arguments": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Arguments of the command line, in order.",
        }
    },
    "required": [],
    "additionalProperties": False,
}


def python_fields(content: bytes, file_name: str, folder: Sequence[str]) -> dict[str, object]:
    """What the file says about the tool, with its manifest. Raises `Unfit`.

    `folder` are the categories that the file lies in.
    """
    module = python_module(content)
    names = signature.top_level_names(module)
    functions = {
        node.name: node
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    said = _headers(names)
    _refuse_other_place(said, file_name, folder)
    needed = said.pop("dependencies", [])
    manifest = said | {
        "tool_id": file_name.removesuffix(".py"),
        "tool_type": ToolType.PYTHON.value,
        "description": _description(said, module, functions),
    }
    executor = _executor(content, file_name, needed, runs=ENTRY in functions)
    fields = {name: value for name, value in manifest.items() if name not in ("tool_id", "name")}
    called = manifest.get("name")
    if called and called != manifest["tool_id"]:
        fields["aliases"] = [called, *_texts(manifest.get("aliases"))]
    return {
        **fields,
        **_schemas(functions.get(ENTRY), names),
        "executor": executor,
        "manifest": manifest | {"executor_config": executor},
    }


def _refuse_other_place(said: Mapping[str, object], file_name: str, folder: Sequence[str]) -> None:
    """A tool is what its file is called, and where its file lies."""
    tool_id = said.get("tool_id", file_name.removesuffix(".py"))
    if f"{tool_id}.py" != file_name:
        reason = f"__tool_id__ is {tool_id!a}, and the file is {file_name}; rename one of them"
        raise Unfit("wrong_name", reason)
    category = said.get("category")
    if folder and category and category not in (folder[0], "/".join(folder)):
        reason = f"__category__ is {category!a}, and its folder is {'/'.join(folder)!a}; "
        raise Unfit("wrong_category", reason + "change one of them")


def _schemas(function: Function | None, names: Names) -> dict[str, object]:
    """Of `run`, or of a script that takes what a command line gives it."""
    if function is None:
        return {"input_schema": _ARGUMENTS}
    text = ast.get_docstring(function, clean=False) or ""
    described = docstring.parse(text) if text else Docstring()
    return {
        "input_schema": signature.input_schema(function, described, names),
        "output_schema": signature.output_schema(function, described, names),
    }


def _description(
    said: Mapping[str, object], module: ast.Module, functions: Mapping[str, Function]
) -> str:
    told = [functions.get(ENTRY), module, functions.get("main")]
    texts = [ast.get_docstring(node, clean=False) or "" for node in told if node is not None]
    text = next((text for text in (str(said.get("description", "")), *texts) if text.strip()), "")
    if not text:
        reason = "the file has no docstring; say at its top what the tool does"
        raise Unfit("no_docstring", reason)
    return docstring.clean(text)


def _executor(content: bytes, file_name: str, said: object, *, runs: bool) -> dict[str, object]:
    inline = _inline_metadata(content.decode("utf-8-sig"))
    needed = [*_texts(said), *_texts(inline.get("dependencies"))]
    python = inline.get("requires-python")
    return {
        "entrypoint": file_name,
        **({"function": ENTRY} if runs else {}),
        **({"dependencies": list(dict.fromkeys(needed))} if needed else {}),
        **({"requires_python": python} if isinstance(python, str) else {}),
    }


def _headers(names: Names) -> dict[str, object]:
    """Those that are literals; what would have to be computed is not known."""
    said: dict[str, object] = {}
    for key in (*_TEXTS, *_LISTS):
        node = names.get(f"__{key}__")
        value = syntax.json_value(node) if isinstance(node, ast.expr) else ()
        if not value:
            continue
        if key in _TEXTS and not isinstance(value[0], str):
            raise Unfit("bad_header", f"__{key}__ is no text; put it in quotes")
        if key in _LISTS and not _is_texts(value[0]):
            raise Unfit("bad_header", f'__{key}__ is no list of texts; write ["one", "two"]')
        said[key] = value[0]
    if said.get("tool_type", ToolType.PYTHON) != ToolType.PYTHON:
        reason = (
            f"__tool_type__ is {said['tool_type']!a}, and a single .py file is a python tool; "
            "for another type make a folder with a tool.yaml"
        )
        raise Unfit("bad_tool_type", reason)
    version = said.get("version")
    if isinstance(version, str) and _SHORT_VERSION.fullmatch(version):
        said["version"] = f"{version}.0"
    return said


def _inline_metadata(text: str) -> Mapping[str, object]:
    try:
        return script_block(text)
    except BadScriptBlock as error:
        raise Unfit("bad_metadata", f"{error.message}; {error.hint}") from error


def _texts(value: object) -> list[str]:
    if value is None:
        return []
    if not _is_texts(value):
        raise Unfit("bad_metadata", "dependencies is no list of texts; correct it")
    return [str(each) for each in value] if isinstance(value, list) else []


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
