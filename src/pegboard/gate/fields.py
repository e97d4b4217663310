"""Untrusted fields, read one by one, each with its own check."""

import re
from typing import TypeVar

from pegboard.formats.semver import split
from pegboard.gate.characters import first_forbidden
from pegboard.gate.limits import Limits
from pegboard.gate.namespaces import NAMESPACE_RULE, is_namespace
from pegboard.gate.objects import clean_object
from pegboard.gate.refusal import Refused, shown
from pegboard.gate.schemas import check_schema
from pegboard.model.content import Json, Link
from pegboard.model.items import DEFAULT_NAMESPACE, Kind, ToolType, Visibility

T = TypeVar("T", Kind, ToolType, Visibility)

_CODES = {
    "id": "no_id",
    "name": "no_name",
    "kind": "bad_kind",
    "tool_type": "bad_tool_type",
    "visibility": "bad_visibility",
}
_BREAK = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


class Fields:
    def __init__(self, fields: Json, limits: Limits) -> None:
        self.fields = fields
        self.limits = limits

    def required(self, name: str, limit: int) -> str:
        found = self.text(name, limit)
        if not found.strip():
            raise Refused(_CODES[name], f"the candidate has no {name}; give it one")
        return self.unbroken(name, found)

    def namespace(self) -> str:
        found = self.fields.get("namespace")
        if found is None:
            return DEFAULT_NAMESPACE
        if not isinstance(found, str) or not is_namespace(found):
            raise Refused("bad_namespace", f"{shown(found)} is no namespace; {NAMESPACE_RULE}")
        return found

    def text(self, name: str, limit: int | None = None) -> str:
        found = self.fields.get(name)
        return "" if found is None else self.checked(name, found, limit or self.limits.name)

    def line(self, name: str, limit: int | None = None) -> str:
        """A text that is shown where a second line would look like something else."""
        return self.unbroken(name, self.text(name, limit))

    def lines(self, name: str) -> tuple[str, ...]:
        return tuple(self.unbroken(name, each) for each in self.texts(name))

    def unbroken(self, name: str, found: str) -> str:
        if found and _BREAK.search(found):
            raise Refused(
                "line_break", f"{name} has a line break or tab in it; write it in one line"
            )
        return found

    def checked(self, name: str, found: object, limit: int) -> str:
        if not isinstance(found, str):
            raise Refused("bad_type", f"{name} is {shown(found)}; it must be text")
        if len(found) > limit:
            raise Refused(
                "too_long", f"{name} has {len(found):,} characters; at most {limit:,} are allowed"
            )
        if forbidden := first_forbidden(found):
            raise Refused(
                "hidden_characters",
                f"{name} contains {forbidden}, which a reader cannot see; remove it",
            )
        return found

    def listed(self, name: str, limit: int) -> list[object]:
        found = self.fields.get(name)
        if found is None:
            return []
        if not isinstance(found, list | tuple):
            raise Refused("bad_type", f"{name} is {shown(found)}; it must be a list")
        if len(found) > limit:
            raise Refused(
                "too_many", f"{name} has {len(found):,} entries; at most {limit:,} are allowed"
            )
        return list(found)

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.listed(name, self.limits.list_items)
        return tuple(
            self.checked(f"{name}[{i}]", each, self.limits.entry) for i, each in enumerate(found)
        )

    def choice(self, name: str, kinds: type[T]) -> T | None:
        found = self.fields.get(name)
        if found is None:
            return None
        if not isinstance(found, str) or found not in set(kinds):
            allowed = ", ".join(kinds)
            raise Refused(_CODES[name], f"{name} is {shown(found)}; it must be one of {allowed}")
        return kinds(found)

    def weight(self) -> float:
        found = self.fields.get("semantic_weight")
        if found is None:
            return 1.0
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise Refused("bad_type", f"semantic_weight is {shown(found)}; it must be a number")
        if not 0 <= found <= 10:
            raise Refused("out_of_range", f"semantic_weight is {shown(found)}; it must be 0 to 10")
        return float(found)

    def json(self, name: str) -> Json:
        return clean_object(name, self.fields.get(name), self.limits)

    def schema(self, name: str, *, arguments: bool = False) -> Json:
        found = self.json(name)
        check_schema(name, found, arguments=arguments)
        return found

    def links(self) -> tuple[Link, ...]:
        """Pairs of relation and target, each once; a target may say which versions will do."""
        found: dict[Link, None] = {}
        for i, each in enumerate(self.listed("links", self.limits.links)):
            pair = list(each) if isinstance(each, list | tuple) else []
            if isinstance(each, Link):
                pair = [each.relation, f"{each.target}@{each.range}" if each.range else each.target]
            if len(pair) != 2:
                reason = f"links[{i}] is {shown(each)}; it must be a relation and a target"
                raise Refused("bad_link", reason)
            relation, target = (
                self.unbroken(f"links[{i}]", self.checked(f"links[{i}]", part, limit))
                for part, limit in zip(pair, (self.limits.name, self.limits.id), strict=True)
            )
            if not relation.strip() or not target.strip():
                raise Refused("bad_link", f"links[{i}] has no relation or no target; name both")
            name, range_ = split(target.strip())
            if not range_ and ":" in name and "@" in name.rpartition(":")[2]:
                said = name.rpartition("@")[2]
                reason = f"links[{i}]: {shown(said)} is no version or range; write one such as ^1.2"
                raise Refused("bad_link", reason)
            found[Link(relation.strip(), name, range_)] = None
        return tuple(found)
