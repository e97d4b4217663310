"""tool.yaml into fields. `tool.schema.json` beside this file says what can stand in one."""

import json
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from pegboard.gate.documents import read_text, read_yaml, settle_category
from pegboard.gate.limits import Limits
from pegboard.gate.refusal import Refused, shown
from pegboard.gate.tool_schema import schema_text
from pegboard.gate.versions import is_inside
from pegboard.gate.wording import complaint, weight
from pegboard.model.content import Json
from pegboard.model.items import Candidate, Kind, ToolType

_MOST_ERRORS = 20
_SAME = (
    *(
        "title",
        "description",
        "aliases",
        "tags",
        "tech_stack",
        "tool_type",
        "version",
        "output_schema",
    ),
    *("visibility", "author", "keywords", "routing_domain", "semantic_namespace", "deprecated"),
    *("sensitivity_tier", "target_personas", "semantic_weight", "skills", "permissions"),
    *("changelog", "replacement"),
)
"""Keys that are fields of an item by the same name."""
_BESIDE = ("timeout", "destructive", "estimated_cost_usd")
"""Keys that tell of a run, and are kept with what runs it."""


def read_manifest(candidate: Candidate, limits: Limits) -> dict[str, object]:
    text = read_text(candidate, limits)
    manifest = read_yaml(text, limits)
    _check(manifest)
    folder = candidate.fields.get("name")
    if manifest["tool_id"] != folder:
        raise Refused(
            "wrong_name",
            f"tool_id is {shown(manifest['tool_id'])}, and its folder is called {shown(folder)};"
            " rename one of them",
        )
    fields = dict(candidate.fields) | {
        "kind": Kind.TOOL.value,
        **{name: manifest[name] for name in _SAME if name in manifest},
        **settle_category(candidate.fields, manifest.get("category"), manifest.get("subcategory")),
        "input_schema": _input_schema(manifest),
        "executor": _executor(manifest, candidate),
        "examples": [_example(each) for each in _listed(manifest, "examples")],
        "links": [("uses", each) for each in _listed(manifest, "requires")],
        "manifest": manifest,
        "manifest_text": text,
    }
    called = manifest.get("name")
    if called and called != manifest["tool_id"]:
        fields["aliases"] = [called, *_listed(manifest, "aliases")]
    return fields


def _check(manifest: Mapping[str, object]) -> None:
    if "parameters" in manifest and "input_schema" in manifest:
        reason = "it has both parameters and input_schema, which say the same; leave one out"
        raise Refused("bad_manifest", reason)
    errors = list(islice(_validator().iter_errors(manifest), _MOST_ERRORS))
    if errors:
        error = min(errors, key=weight)
        raise Refused("bad_manifest", _misplaced(manifest, error) or complaint(error))


def _misplaced(manifest: Mapping[str, object], error: Any) -> str:  # noqa: ANN401
    """What is wrong, where something stands in the wrong place or is missing as a whole."""
    if list(error.absolute_path) == ["parameters"] and isinstance(error.instance, Mapping):
        return (
            "parameters is a mapping; it must be a list, each with name, type, description and"
            " required, or else a JSON Schema under input_schema"
        )
    config = _configs().get(str(manifest.get("tool_type")), {})
    if error.absolute_path or not config:
        return ""
    if error.validator == "required" and "executor_config" not in manifest:
        names = ", ".join(config["required"])
        return f"it has no executor_config; add executor_config, with {names}"
    strange = [key for key in manifest if key not in error.schema.get("properties", manifest)]
    if strange and strange[0] in config["properties"]:
        return f"{strange[0]} belongs into executor_config; put it there"
    return ""


def _configs() -> Any:  # noqa: ANN401 - a part of the schema
    """What can stand in the executor_config of each type."""
    return _validator().schema["$defs"]


@lru_cache(maxsize=1)
def _validator() -> Any:  # noqa: ANN401 - jsonschema makes its classes while it runs
    from jsonschema import Draft202012Validator  # takes long to load

    return Draft202012Validator(json.loads(schema_text()))


def _listed(manifest: Mapping[str, object], name: str) -> list[object]:
    found = manifest.get(name)
    return found if isinstance(found, list) else []


def _input_schema(manifest: Mapping[str, object]) -> object:
    if "parameters" not in manifest:
        return manifest.get("input_schema")
    properties: dict[str, Json] = {}
    required: list[str] = []
    for parameter in _listed(manifest, "parameters"):
        said = dict(parameter) if isinstance(parameter, Mapping) else {}
        name = str(said.pop("name"))
        if name in properties:
            reason = f"parameters has {shown(name)} twice; rename one of them"
            raise Refused("bad_manifest", reason)
        if said.pop("required", False):
            required.append(name)
        properties[name] = said
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _executor(manifest: Mapping[str, object], candidate: Candidate) -> dict[str, object]:
    """The executor_config with its defaults, and what else a run is bound by."""
    said = manifest.get("executor_config")
    config = dict(said) if isinstance(said, Mapping) else {}
    needed = [*_listed(config, "dependencies"), *_listed(manifest, "dependencies")]
    match manifest["tool_type"]:
        case ToolType.PYTHON:
            config.setdefault("entrypoint", "main.py")
        case ToolType.API:
            config.setdefault("method", "GET")
        case ToolType.MCP:
            config = {"server": config["mcp_server"], "tool": config["mcp_tool"]}
    if needed:
        config["dependencies"] = list(dict.fromkeys(needed))
    _check_entrypoint(config, candidate)
    return config | {name: manifest[name] for name in _BESIDE if name in manifest}


def _check_entrypoint(config: Mapping[str, object], candidate: Candidate) -> None:
    path = config.get("entrypoint")
    if not isinstance(path, str):
        return
    if not is_inside(path):
        raise Refused(
            "bad_path",
            f"executor_config.entrypoint is {shown(path)}, which leaves the tool's folder;"
            " name a file in it, as in main.py",
        )
    if path not in {file.path for file in candidate.files}:
        raise Refused(
            "missing_file",
            f"executor_config.entrypoint is {shown(path)}, and the tool's folder has no such file;"
            " add it, or name another",
        )


def _example(said: object) -> object:
    """A request in words, or else the arguments of a call."""
    if not isinstance(said, Mapping):
        return said
    return said.get("description") or json.dumps(said.get("arguments", {}), ensure_ascii=False)
