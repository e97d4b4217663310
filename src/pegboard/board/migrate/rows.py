"""What a row of a Kiwi database is on a board: the candidate that it makes, and what comes along.

Pure. What cannot come as it is comes as near as possible, and a remark says what changed.
"""

import hashlib
import json
import math
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from pegboard.board.migrate.numbers import numbers_of
from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, Item, Kind, Rejection
from pegboard.store.postgres.kiwi import Carried, CarriedVersion
from pegboard.store.postgres.kiwi_reading import OldItem, OldRow

SOURCE = "kiwi"
MOST_DOWNLOADS = 2**31 - 1
SUMMARY = 1_000
"""Characters of a knowledge entry that describe it, where it says nothing shorter about itself."""
SHOWN = 60
"""Characters of an odd value that a remark repeats."""
_KIWI = uuid.UUID("7a1d3c56-6f0e-5b0e-9a52-3f1f0a6b1c11")

Gate = Callable[[Candidate], Item | Rejection]


class Shape(NamedTuple):
    """What the rows of one table become."""

    kind: Kind
    shelf: str
    """Goes before the category in the id, so that kinds do not take one another's ids."""
    path: str = ""
    media_type: str = ""


SHAPES = {
    "scripts": Shape(Kind.TOOL, "", "main.py", "text/x-python"),
    "directives": Shape(Kind.DIRECTIVE, "directives/", "directive.md", "text/markdown"),
    "knowledge_entries": Shape(Kind.KNOWLEDGE, "knowledge/"),
}
VERSIONS = {
    "scripts": ("script_versions", "script_id"),
    "directives": ("directive_versions", "directive_id"),
    "knowledge_entries": ("", ""),
}
_FILLED = (
    "description",
    "category",
    "subcategory",
    "tags",
    "tech_stack",
    "is_official",
    "download_count",
    "created_at",
    "updated_at",
)
"""Columns that may be empty in an old row, and never are on a board."""


class Remark(NamedTuple):
    """Something of an old row that is not on the board as it was, though the row is."""

    origin: str
    code: str
    reason: str


class Moving(NamedTuple):
    """What becomes of one old row."""

    origin: str
    versions: int
    """How many the old row has that were not refused one by one."""
    carried: Carried | None
    """None if the row was refused."""
    refused: tuple[Rejection, ...] = ()
    remarks: tuple[Remark, ...] = ()


def moving(old: OldItem, namespace: str, gate: Gate) -> Moving:
    return _Mover(old, namespace, gate).moving()


def origin_of(table: str, row: OldRow) -> str:
    return f"{table}/{row.get('id') or row.get('zettel_id')}"


def row_hash(*rows: OldRow) -> str:
    canonical = json.dumps(rows, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def refusal(origin: str, origin_hash: str, code: str, reason: str) -> Rejection:
    return Rejection(SOURCE, origin, origin_hash, code, reason)


def uid_of(row: OldRow) -> str | None:
    try:
        return str(uuid.UUID(str(row.get("id"))))
    except ValueError:
        return None


def moment_of(row: OldRow, name: str) -> str | None:
    """A moment that a calendar has: not before year 1, not after 9999, not infinity."""
    try:
        moment = datetime.fromisoformat(str(row.get(name)))
    except ValueError:
        return None
    return str(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


class _Mover:
    def __init__(self, old: OldItem, namespace: str, gate: Gate) -> None:
        self.old = old
        self.row = old.row
        self.shape = SHAPES[old.table]
        self.namespace = namespace
        self.gate = gate
        self.origin = origin_of(old.table, old.row)
        self.hash = row_hash(old.row, *old.versions)
        self.refused: list[Rejection] = []
        self.remarks: list[Remark] = []

    def moving(self) -> Moving:
        carried = self._carried()
        alone = sum(each.origin != self.origin for each in self.refused)
        versions = len(self.old.versions) - alone
        return Moving(self.origin, versions, carried, tuple(self.refused), tuple(self.remarks))

    def _carried(self) -> Carried | None:
        uid = self._uid(self.row, self.origin)
        fields = self._knowledge() if self.shape.kind is Kind.KNOWLEDGE else self._described()
        item = self._admitted(fields) if uid else None
        if uid is None or item is None:
            return None
        versions = list(self._versions())
        latest = self._latest(versions)
        if self.shape.kind is Kind.DIRECTIVE and latest and latest.version.files:
            text = latest.version.files[0].content.decode()
            item = self._admitted(fields | {"body": text})
            if item is None:
                return None
        created, updated = (self._time(self.row, name) for name in ("created_at", "updated_at"))
        dated = min((each.created_at for each in versions if each.created_at), default=None)
        return Carried(
            item=item._replace(version=latest.version._replace(files=()) if latest else None),
            uid=uid,
            download_count=self._count(),
            quality_score=self._figure("quality_score", 9.99),
            success_rate=self._figure("success_rate", 9.99),
            estimated_cost_usd=self._figure("estimated_cost_usd", 99_999_999.99),
            created_at=created or updated or dated,
            updated_at=updated or created,
            versions=tuple(versions),
            nulls=_nulls(self.row, _FILLED),
        )

    def _admitted(self, fields: dict[str, object]) -> Item | None:
        verdict = self.gate(Candidate(SOURCE, self.origin, self.hash, fields))
        if isinstance(verdict, Item):
            return verdict
        self.refused.append(verdict)
        return None

    def _described(self) -> dict[str, object]:
        fields: dict[str, object] = {
            name: self.row.get(name) for name in ("name", "description", "category", "subcategory")
        }
        fields |= {name: self._list(name) for name in ("tags", "tech_stack")}
        fields |= {
            "id": self._id(self.row.get("name")),
            "namespace": self.namespace,
            "kind": self.shape.kind.value,
            "official": self.row.get("is_official") is True,
        }
        if self.shape.kind is Kind.TOOL:
            fields |= {"tool_type": "python", "executor": {"entrypoint": self.shape.path}}
        return fields

    def _knowledge(self) -> dict[str, object]:
        zettel, content = self.row.get("zettel_id"), self.row.get("content")
        summary = self.row.get("summary") or self.row.get("description")
        if not self.row.get("title"):
            self._remark("title", "it has no title; it is called by its zettel_id")
        return {
            "id": self._id(zettel),
            "name": self.row.get("title") or zettel,
            "aliases": [zettel],
            "namespace": self.namespace,
            "kind": self.shape.kind.value,
            "description": summary or _beginning(content),
            "category": self.row.get("category"),
            "subcategory": self.row.get("entry_type"),
            "tags": self._list("tags"),
            "body": content,
        }

    def _id(self, name: object) -> str:
        return f"{SOURCE}:{self.shape.shelf}{self.row.get('category') or ''}:{name or ''}"

    def _versions(self) -> Iterator[CarriedVersion]:
        seen: set[str] = set()
        table, _ = VERSIONS[self.old.table]
        numbers = numbers_of([_said(row) or "" for row in self.old.versions])
        for row, number in zip(self.old.versions, numbers, strict=True):
            origin = f"{table}/{row['id']}"
            found = self._version(row, origin, number)
            if found is None:
                continue
            if found.uid in seen:
                reason = f"{self.origin} has another version of this id"
                self._refuse(origin, row, "duplicate_version", reason)
                continue
            seen.add(found.uid)
            if found.said != number:
                reason = f"version {_shown(found.said)} is {number} on the board"
                self._remark("version", reason, origin)
            yield found

    def _version(self, row: OldRow, origin: str, number: str) -> CarriedVersion | None:
        uid, content = self._uid(row, origin), row.get("content")
        if uid is None:
            return None
        fields: dict[str, object] = {
            "id": origin,
            "name": origin,
            "version": number,
            "manifest": self._manifest(number),
        }
        files = (self._file(content),) if isinstance(content, str) else ()
        verdict = self.gate(Candidate(SOURCE, origin, row_hash(row), fields, files))
        if isinstance(verdict, Rejection) or verdict.version is None:
            if isinstance(verdict, Rejection):
                self.refused.append(verdict)
            return None
        return CarriedVersion(
            uid=uid,
            version=verdict.version._replace(
                content_hash=self._content_hash(row, origin, files),
                changelog=str(row.get("changelog") or ""),
            ),
            said=_said(row),
            created_at=self._time(row, "created_at", origin),
            nulls=_nulls(row, ("version", "content_hash", "changelog", "created_at")),
            marked=row.get("is_latest") is True,
        )

    def _manifest(self, number: str) -> dict[str, object]:
        if self.shape.kind is not Kind.TOOL:
            return {"name": self.row.get("name"), "version": number}
        return {
            "tool_id": self.row.get("name"),
            "tool_type": "python",
            "version": number,
            "description": self.row.get("description"),
            "executor_config": {"entrypoint": self.shape.path},
        }

    def _file(self, content: str) -> ItemFile:
        said = content.encode()
        return ItemFile(
            path=self.shape.path,
            content=said,
            sha256=hashlib.sha256(said).hexdigest(),
            media_type=self.shape.media_type,
            executable=self.shape.kind is Kind.TOOL,
        )

    def _content_hash(self, row: OldRow, origin: str, files: Sequence[ItemFile]) -> str:
        said = str(row.get("content_hash") or "")
        true = files[0].sha256 if files else hashlib.sha256(b"").hexdigest()
        if said and said != true and len(said) == len(true):
            reason = "content_hash is not the SHA-256 of the content; it is kept as it was"
            self._remark("wrong_hash", reason, origin)
        return said or true

    def _latest(self, versions: Sequence[CarriedVersion]) -> CarriedVersion | None:
        """The one the row names, else the one that is marked, else the youngest."""
        said = _said(self.row, "latest_version")
        named = [each for each in versions if each.said == said is not None]
        found = max(named or versions, key=_precedence, default=None)
        if said != (found.said if found else None):
            told = f"it is {_shown(found.said)} now" if found else "it names none now"
            self._remark("latest_version", f"latest_version {_shown(said)} is not there; {told}")
        return found

    def _uid(self, row: OldRow, origin: str) -> str | None:
        found = uid_of(row) if "id" in row else str(uuid.uuid5(_KIWI, origin))
        if found is None:
            self._refuse(origin, row, "bad_id", f"its id {row['id']!r} is no UUID")
        return found

    def _list(self, name: str) -> object:
        """A list, however it was written; what is missing inside it is left out."""
        found = self.row.get(name)
        if isinstance(found, str):
            found = [part.strip() for part in found.split(",") if part.strip()]
        if isinstance(found, list) and None in found:
            self._remark("null_in_list", f"{name} has empty places; they are left out")
            found = [each for each in found if each is not None]
        return found

    def _count(self) -> int:
        found = self.row.get("download_count")
        if found is None:
            return 0
        number = _number(found)
        kept = 0 if number is None else int(min(max(number, 0), MOST_DOWNLOADS))
        if number != kept:
            self._remark("download_count", f"download_count {found} is no count; it is {kept} now")
        return kept

    def _figure(self, name: str, most: float) -> float | None:
        found = self.row.get(name)
        number = _number(found)
        if number is not None and 0 <= number <= most:
            return number
        if found is not None:
            self._remark(name, f"{name} {found} cannot be kept; it is empty now")
        return None

    def _time(self, row: OldRow, name: str, origin: str = "") -> str | None:
        found = moment_of(row, name)
        if found is None and row.get(name) is not None:
            self._remark(name, f"{name} {row[name]} is no moment that can be kept", origin)
        return found

    def _refuse(self, origin: str, row: OldRow, code: str, reason: str) -> None:
        self.refused.append(refusal(origin, row_hash(row), code, reason))

    def _remark(self, code: str, reason: str, origin: str = "") -> None:
        self.remarks.append(Remark(origin or self.origin, code, reason))


def _nulls(row: OldRow, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in row and row[name] is None)


def _number(found: object) -> float | None:
    try:
        number = float(Decimal(str(found)))
    except (InvalidOperation, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _precedence(each: CarriedVersion) -> tuple[bool, str, tuple[int, ...], str]:
    numbers = each.version.version.partition("+")[0].partition("-")[0].split(".")
    return each.marked, each.created_at or "", tuple(map(int, numbers)), each.said or ""


def _said(row: OldRow, name: str = "version") -> str | None:
    """A version's number as the old row has it, whatever type the column is of."""
    found = row.get(name)
    return None if found is None else str(found)


def _shown(said: object) -> str:
    return repr(said) if len(repr(said)) <= SHOWN else f"{repr(said)[:SHOWN]}..."


def _beginning(content: object) -> str:
    """The first paragraphs of a text, as many as describe it."""
    text = content if isinstance(content, str) else ""
    if len(text) <= SUMMARY:
        return text
    return text[:SUMMARY].rpartition(" ")[0] or text[:SUMMARY]
