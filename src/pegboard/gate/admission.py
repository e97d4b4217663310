"""Candidate in, item or rejection out. Total: nothing a source can say makes this raise."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from pegboard.content import Json, Version
from pegboard.gate.characters import first_forbidden
from pegboard.model import (
    DEFAULT_NAMESPACE,
    Candidate,
    Item,
    ItemId,
    Kind,
    Rejection,
    ToolType,
    Visibility,
)

T = TypeVar("T", Kind, ToolType, Visibility)

_NAMESPACE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}(/[a-z0-9][a-z0-9_.-]{0,62})?")
_BREAK = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


NAMESPACE_RULE = (
    "it takes lower-case letters, digits, '-', '_' and '.', and at most one '/', as in user/team"
)


def is_namespace(text: str) -> bool:
    return _NAMESPACE.fullmatch(text) is not None


class Limits(NamedTuple):
    name: int = 200
    id: int = 512
    description: int = 100_000
    body: int = 1_000_000
    entry: int = 2_000
    list_items: int = 100
    object_bytes: int = 1_000_000
    object_depth: int = 40


class Refused(Exception):
    """Carries code and reason from the check that failed to the rejection."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def admit(candidate: Candidate, limits: Limits | None = None) -> Item | Rejection:
    try:
        return _Reader(candidate, limits or Limits()).item()
    except Refused as refused:
        return Rejection(
            source=candidate.source,
            origin=candidate.origin,
            origin_hash=candidate.origin_hash,
            code=refused.code,
            reason=refused.reason,
        )


class _Reader:
    """Reads untrusted fields one by one, each with its own check."""

    def __init__(self, candidate: Candidate, limits: Limits) -> None:
        self.candidate = candidate
        self.fields = candidate.fields
        self.limits = limits

    def item(self) -> Item:
        return Item(
            id=ItemId(self.required("id", self.limits.id)),
            name=self.required("name", self.limits.name),
            kind=self.choice("kind", Kind) or Kind.TOOL,
            namespace=self.namespace(),
            description=self.text("description", self.limits.description),
            category=self.line("category"),
            subcategory=self.line("subcategory"),
            tags=self.lines("tags"),
            aliases=self.lines("aliases"),
            tech_stack=self.lines("tech_stack"),
            tool_type=self.choice("tool_type", ToolType),
            input_schema=self.json("input_schema"),
            output_schema=self.json("output_schema"),
            executor=self.json("executor"),
            examples=self.texts("examples"),
            body=self.text("body", self.limits.body),
            visibility=self.choice("visibility", Visibility) or Visibility.PUBLIC,
            author=self.line("author"),
            official=self.fields.get("official") is True,
            source=self.candidate.source,
            origin=self.candidate.origin,
            origin_hash=self.candidate.origin_hash,
            source_protocol=self.line("source_protocol"),
            endpoint=self.line("endpoint", self.limits.id),
            keywords=self.lines("keywords"),
            routing_domain=self.line("routing_domain"),
            semantic_namespace=self.line("semantic_namespace"),
            sensitivity_tier=self.line("sensitivity_tier"),
            target_personas=self.lines("target_personas"),
            semantic_weight=self.weight(),
            skills=self.lines("skills"),
            version=self.version(),
        )

    def required(self, name: str, limit: int) -> str:
        found = self.text(name, limit)
        if not found.strip():
            raise Refused(f"no_{name}", f"the candidate has no {name}; give it one")
        return self.unbroken(name, found)

    def namespace(self) -> str:
        found = self.fields.get("namespace")
        if found is None:
            return DEFAULT_NAMESPACE
        if not isinstance(found, str) or not is_namespace(found):
            raise Refused("bad_namespace", f"{_shown(found)} is no namespace; {NAMESPACE_RULE}")
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
            raise Refused("bad_type", f"{name} is {_shown(found)}; it must be text")
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

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.fields.get(name)
        if found is None:
            return ()
        if not isinstance(found, list | tuple):
            raise Refused("bad_type", f"{name} is {_shown(found)}; it must be a list of texts")
        if len(found) > self.limits.list_items:
            raise Refused(
                "too_many",
                f"{name} has {len(found):,} entries; at most {self.limits.list_items} are allowed",
            )
        return tuple(
            self.checked(f"{name}[{i}]", each, self.limits.entry) for i, each in enumerate(found)
        )

    def choice(self, name: str, kinds: type[T]) -> T | None:
        found = self.fields.get(name)
        if found is None:
            return None
        if not isinstance(found, str) or found not in set(kinds):
            allowed = ", ".join(kinds)
            raise Refused(f"bad_{name}", f"{name} is {_shown(found)}; it must be one of {allowed}")
        return kinds(found)

    def weight(self) -> float:
        found = self.fields.get("semantic_weight")
        if found is None:
            return 1.0
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise Refused("bad_type", f"semantic_weight is {_shown(found)}; it must be a number")
        if not 0 <= found <= 10:
            raise Refused("out_of_range", f"semantic_weight is {_shown(found)}; it must be 0 to 10")
        return float(found)

    def json(self, name: str) -> Json:
        """A JSON object, bounded in depth and size, with only visible characters in it."""
        found = self.fields.get(name)
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            raise Refused("bad_type", f"{name} is {_shown(found)}; it must be an object")
        self.bounded(name, found)
        try:
            text = json.dumps(found, ensure_ascii=False, allow_nan=False, default=_mapping)
        except (TypeError, ValueError) as error:
            raise Refused("not_json", f"{name} cannot be written as JSON: {error}") from error
        if len(text) > self.limits.object_bytes:
            raise Refused(
                "too_long",
                f"{name} has {len(text):,} characters as JSON;"
                f" at most {self.limits.object_bytes:,} are allowed",
            )
        clean: dict[str, object] = json.loads(text)
        for each in _texts_in(clean):
            if forbidden := first_forbidden(each):
                raise Refused("hidden_characters", f"{name} contains {forbidden}; remove it")
        return clean

    def bounded(self, name: str, value: Mapping[object, object]) -> None:
        """Level by level and not by recursion, so that depth itself can do no harm.

        Counted before it is spread out: parts that are shared many times, as YAML allows, would
        otherwise grow without end.
        """
        level: list[object] = [value]
        for _ in range(self.limits.object_depth + 2):
            parts = [each for each in level if isinstance(each, Mapping | list | tuple)]
            if not parts:
                return
            if sum(map(len, parts)) > self.limits.object_bytes:
                raise Refused("too_long", f"{name} has more parts than can be kept")
            level = [child for each in parts for child in _children(each)]
        raise Refused("too_deep", f"{name} is nested deeper than {self.limits.object_depth} levels")

    def version(self) -> Version | None:
        """A source that keeps no versions gets one named after its content."""
        files = self.candidate.files
        for file in files:
            parts = self.checked("file path", file.path, self.limits.id).split("/")
            if file.path.startswith("/") or ".." in parts or "\\" in file.path or not file.path:
                raise Refused("bad_path", f"file path {_shown(file.path)} leaves the item's folder")
        if len({file.path for file in files}) < len(files):
            raise Refused("bad_path", "two files have the same path; give each its own")
        manifest = self.json("manifest")
        if not files and not manifest:
            return None
        digest = hashlib.sha256(json.dumps(dict(manifest), sort_keys=True).encode())
        for file in sorted(files, key=lambda each: each.path):
            digest.update(f"\0{file.path}\0{file.sha256}".encode("utf-8", "replace"))
        content_hash = digest.hexdigest()
        number = self.text("version", 100) or f"0.0.0+{content_hash[:12]}"
        if not _VERSION.fullmatch(number):
            raise Refused("bad_version", f"version {_shown(number)} is not semantic: 1.2.3")
        return Version(
            version=number,
            content_hash=content_hash,
            manifest=manifest,
            manifest_text=self.text("manifest_text", self.limits.body) or None,
            files=files,
        )


def _children(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _texts_in(value: object) -> Iterator[str]:
    """Every text of a JSON value whose depth is known to be bounded, keys included."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        yield from value
    for child in _children(value):
        yield from _texts_in(child)


def _mapping(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _shown(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a huge number"
    known = isinstance(value, str | int | float | bool | None)
    text = ascii(value) if known else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."
