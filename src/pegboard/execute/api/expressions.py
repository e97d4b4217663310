"""Expressions of LightAPI: `${input.NAME}`, `${env.NAME}`, `${secrets.NAME}`.

`${input}` stands for all arguments together. A secret is called after the source and its name, as
those of OpenAPI are. A value is never looked into again, but for those of an environment.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from pegboard.execute.api.faults import unavailable
from pegboard.execute.api.styles import scalar
from pegboard.execute.api.templates import LEFT_OUT, as_it_is
from pegboard.execute.secrets import Secrets, secret_name
from pegboard.formats.shapes import mapping
from pegboard.model.content import Json

_EXPRESSION = re.compile(r"\$\{\s*([a-z]+)(?:\.([^}\s]+))?\s*\}")
_MAX_STEPS = 10


class Operation(NamedTuple):
    executor: Json
    arguments: Json
    schema: Json
    source: str
    secrets: Secrets
    environment: str = ""
    """Which of the document's environments counts, if it has several."""


def names_of(executor: Json, source: str) -> list[str]:
    found = _EXPRESSION.findall(json.dumps(executor, default=dict))
    names = [secret_name(source, name) for kind, name in found if kind == "secrets"]
    return list(dict.fromkeys(names))


class Speech:
    """What expressions stand for in one call."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    def value(self, template: object) -> object:
        """A text that is one expression becomes its value, of whatever type."""
        if isinstance(template, str):
            whole = _EXPRESSION.fullmatch(template)
            return self._meaning(whole) if whole else self.text(template)
        if isinstance(template, Mapping):
            pairs = ((name, self.value(each)) for name, each in template.items())
            return {name: each for name, each in pairs if each is not LEFT_OUT}
        if isinstance(template, list | tuple):
            return [each for each in map(self.value, template) if each is not LEFT_OUT]
        return template

    def text(self, template: str, encode: Callable[[str], str] = as_it_is) -> str | object:
        """Only what comes from arguments and secrets is encoded."""
        written, end = [], 0
        for found in _EXPRESSION.finditer(template):
            value = self._meaning(found)
            if value is LEFT_OUT or value is None:
                return LEFT_OUT
            said = scalar(value)
            written += [template[end : found.start()], said if found[1] == "env" else encode(said)]
            end = found.end()
        return "".join([*written, template[end:]])

    def _meaning(self, found: re.Match[str]) -> object:
        kind, name = found.groups()
        match kind, name:
            case "input", None:
                return self._operation.arguments
            case "input", str():
                return _within(self._operation.arguments, name)
            case "env", str():
                return self._variable(name)
            case "secrets", str():
                named = secret_name(self._operation.source, name)
                return self._operation.secrets.line(named)
        raise unavailable(f"{found[0][:80]} is no expression that Pegboard knows")

    def _variable(self, name: str) -> object:
        """The value of a variable may name others."""
        variables = self._environment()
        value: object = f"${{env.{name}}}"
        for _ in range(_MAX_STEPS):
            if not isinstance(value, str) or not _EXPRESSION.search(value):
                return value
            whole = _EXPRESSION.fullmatch(value)
            if whole and whole[1] == "env":
                value = self._set(variables, whole[2])
            else:
                value = _EXPRESSION.sub(partial(self._spelled, variables), value)
        raise unavailable(f"the variable {name} names itself")

    def _spelled(self, variables: Json, found: re.Match[str]) -> str:
        if found[1] != "env":
            raise unavailable(f"{found[0][:80]} cannot stand in a variable of an environment")
        return scalar(self._set(variables, found[2]))

    def _set(self, variables: Json, name: str) -> object:
        if variables.get(name) is None:
            raise unavailable(f"the document of {self._operation.source} does not set env.{name}")
        return variables[name]

    def _environment(self) -> Json:
        found = mapping(self._operation.executor.get("environments"))
        named = self._operation.environment
        if named in found or len(found) == 1:
            return mapping(found.get(named) or next(iter(found.values())))
        told = ", ".join(found) or "none"
        raise unavailable(
            f"{self._operation.source} has the environments {told}; name the one that counts,"
            " as run.environment in your settings"
        )


def _within(arguments: Json, name: str) -> object:
    """`a.b` is the argument of that name, or else the member b of a."""
    if name in arguments:
        return arguments[name]
    value: object = arguments
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return LEFT_OUT
        value = value[step]
    return value
