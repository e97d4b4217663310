"""A catalogue of tools in one file, `tools.jsonl` or `tools.jsonl.gz`: one JSON object a line."""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from pegboard.errors import SourceError
from pegboard.formats.shapes import text
from pegboard.model.items import DEFAULT_NAMESPACE, Candidate, Finding, Kind, Rejection, Unchanged
from pegboard.sources.unfit import Unfit, is_writable
from pegboard.text import MAX_TITLE, clipped

MAX_LINE = 4 << 20

_TYPES: Mapping[str, tuple[str, ...]] = {
    "string": ("str", "string", "text", "char", "varchar", "blob", "bytes", "path", "uri", "url"),
    "integer": ("int", "integer", "long", "short", "bigint"),
    "number": ("float", "double", "number", "decimal", "numeric", "real"),
    "boolean": ("bool", "boolean"),
    "array": ("array", "list", "arraylist", "tuple", "set", "sequence"),
    "object": ("dict", "dictionary", "object", "map", "hashmap", "mapping", "structure", "json"),
    "null": ("null", "none"),
}
_JSON_TYPE = {word: name for name, words in _TYPES.items() for word in words}
_FORMATS = {"date": "date", "datetime": "date-time", "timestamp": "date-time", "uuid": "uuid"}
_WORD = re.compile(r"[a-z]+")
_ITEMS = re.compile(r"[a-z]+\s*(?:\s+of\s+|\[|<)\s*([a-z]+)")


_File = IO[bytes] | gzip.GzipFile


class _Line(NamedTuple):
    number: int
    content: bytes
    sha256: str
    too_long: bool = False

    @property
    def origin(self) -> str:
        return f"line {self.number}"


class JsonlSource:
    def __init__(self, name: str, path: Path, *, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._name = name
        self._path = path
        self._namespace = namespace

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        seen: set[str] = set()
        for line in self._lines():
            try:
                record = _record(line)
                origin = str(record["id"])
                if origin in seen:
                    raise Unfit(
                        "duplicate_id", f"an earlier line has the id {origin!r}; give another id"
                    )
            except Unfit as unfit:
                yield self._refused(line, unfit, known)
                continue
            seen.add(origin)
            if known.get(origin) == line.sha256:
                yield Unchanged(origin)
            else:
                yield Candidate(
                    source=self._name,
                    origin=origin,
                    origin_hash=line.sha256,
                    fields=self._fields(record),
                )

    def _lines(self) -> Iterator[_Line]:
        try:
            with self._open() as file:
                yield from _lines(file)
        except (OSError, EOFError, zlib.error) as error:
            raise SourceError(
                f"the file {self._path} cannot be read: {_cause(error)}",
                hint="check that it exists and is whole; if it was downloaded, fetch it again",
            ) from error

    def _open(self) -> _File:
        if self._path.suffix == ".gz":
            return gzip.open(self._path, "rb")
        return self._path.open("rb")

    def _refused(self, line: _Line, unfit: Unfit, known: Mapping[str, str]) -> Finding:
        if known.get(line.origin) == line.sha256:
            return Unchanged(line.origin)
        return Rejection(
            source=self._name,
            origin=line.origin,
            origin_hash=line.sha256,
            code=unfit.code,
            reason=unfit.reason,
        )

    def _fields(self, record: Mapping[str, object]) -> dict[str, object]:
        fields: dict[str, object] = {
            "id": f"{self._name}:{record['id']}",
            "kind": Kind.TOOL.value,
            "namespace": self._namespace,
            "name": record["name"],
            "category": text(record.get("category")),
            "description": text(record.get("description")),
            "input_schema": _input_schema(record.get("parameters")),
        }
        if title := " ".join(text(record.get("title")).split()):
            fields["title"] = clipped(title, MAX_TITLE)
        for name in ("tags", "skills"):
            said = record.get(name)
            if isinstance(said, list) and said and all(isinstance(each, str) for each in said):
                fields[name] = said
        return fields


def _lines(file: _File) -> Iterator[_Line]:
    """The lines that are not blank; of one that is too long, only the hash."""
    number = 0
    while content := file.readline(MAX_LINE + 1):
        number += 1
        digest = hashlib.sha256(content.rstrip(b"\r\n"))
        too_long = len(content) > MAX_LINE and not content.endswith(b"\n")
        if too_long:
            while (more := file.readline(MAX_LINE)) and not more.endswith(b"\n"):
                digest.update(more)
            digest.update(more.rstrip(b"\r\n"))
            content = b""
        if too_long or content.strip():
            yield _Line(number, content, digest.hexdigest(), too_long)


def _record(line: _Line) -> Mapping[str, object]:
    if line.too_long:
        raise Unfit("too_large", f"the line is longer than {MAX_LINE} bytes; shorten it")
    try:
        record = json.loads(line.content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = f"the line is not JSON ({error}); write one JSON object on it"
        raise Unfit("bad_json", reason) from error
    if not isinstance(record, dict):
        raise Unfit("bad_record", "the line is not a JSON object; write one object on it")
    for key in ("id", "name"):
        if not _storable(record.get(key)):
            reason = f"the record's {key} is missing or no text; give it one that is not empty"
            raise Unfit("bad_record", reason)
    return record


def _storable(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and is_writable(value)


def _input_schema(parameters: object) -> dict[str, object]:
    properties: dict[str, object] = {}
    required: list[str] = []
    for parameter in parameters if isinstance(parameters, list) else []:
        name = text(parameter.get("name")) if isinstance(parameter, dict) else ""
        if not name or name in properties:
            continue
        schema = _typed(text(parameter.get("type")))
        if description := text(parameter.get("description")):
            schema["description"] = description
        properties[name] = schema
        if parameter.get("required") is True:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _typed(words: str) -> dict[str, object]:
    """`str`, `array of strings`, `List[int]`, `timestamp`, as catalogues write them."""
    lowered = words[:200].strip().lower()
    found = _WORD.match(lowered)
    schema = _plain(found[0] if found else "")
    items = _ITEMS.match(lowered)
    if schema.get("type") == "array" and items and (inner := _plain(items[1])):
        schema["items"] = inner
    return schema


def _plain(word: str) -> dict[str, object]:
    for known in (word, word.removesuffix("s")):
        if known in _JSON_TYPE:
            return {"type": _JSON_TYPE[known]}
        if known in _FORMATS:
            return {"type": "string", "format": _FORMATS[known]}
    return {}


def _cause(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or str(error)
