"""A project with items, keys, and a shelf of releases that is nothing but a dictionary.

The shelf stands for a registry where only what is done with its answers is looked at; how real ones
answer is in the tests of stores, gateways and processes.
"""

import time
from pathlib import Path

from pegboard.board.publish.packing import recorded, release_at, sealed
from pegboard.board.publish.releasing import Parcel, Shelf
from pegboard.board.trust.keyring import Keyring
from pegboard.errors import ItemNotFound
from pegboard.formats.semver import precedence
from pegboard.gate.releases import Record, unpack
from pegboard.gate.signatures import Policy, Seal
from pegboard.model.content import VersionLine
from pegboard.model.items import ItemId

GREET = '''"""Greet somebody by name."""


def run(name: str) -> str:
    """Greet somebody by name, politely.

    Args:
        name: Who is greeted.
    """
    return f"hello {name}"
'''
MANIFEST = """tool_id: stamp
tool_type: bash
description: Put a stamp on a letter.
executor_config:
  entrypoint: stamp.sh
"""


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


class Publisher:
    """Somebody with a key and a folder of items."""

    def __init__(self, home: Path, name: str = "ada", *, until: str = "") -> None:
        self.ai = home / "work" / ".ai"
        self.keyring = Keyring(home / "keys-of-publisher")
        self.name = name
        self.key = self.keyring.new(name, valid_until=until)

    def parcel(
        self,
        path: str,
        version: str,
        files: dict[str, str],
        *,
        namespace: str = "team-a",
        days: int | None = None,
        changelog: str = "",
    ) -> Parcel:
        write(self.ai, files)
        release = release_at(self.ai / path, 1 << 20)
        record = recorded(release, namespace, version, changelog, ())
        return sealed(release, record, self.keyring, self.name, days)

    def greet(self, version: str, text: str = GREET, **more: str) -> Parcel:
        path = "tools/paper/greet.py"
        return self.parcel(path, version, {path: text}, **more)


class Shelves:
    """A registry as far as pulling knows one."""

    def __init__(self) -> None:
        self.parcels: dict[str, dict[str, Parcel]] = {}
        self.yanked: dict[tuple[str, str], str] = {}
        self.downloads: list[tuple[str, str]] = []
        self.deprecated: dict[str, str] = {}

    def add(self, parcel: Parcel) -> Record:
        record = unpack(parcel.bundle).record
        self.parcels.setdefault(record.reference, {})[record.version] = parcel
        return record

    def shelf(self, name: str) -> Shelf:
        matching = [each for each in self.parcels if name in (each, each.partition("/")[2])]
        if not matching:
            raise ItemNotFound(f"there is no item {name!r} on this board")
        reference = matching[0]
        numbers = sorted(self.parcels[reference], key=precedence, reverse=True)
        record = unpack(self.parcels[reference][numbers[0]].bundle).record
        lines = tuple(
            VersionLine(
                number,
                "",
                0.0,
                yanked_at=1.0 if (reference, number) in self.yanked else None,
                published_by="ada",
            )
            for number in numbers
        )
        return Shelf(
            record.namespace,
            ItemId(record.id),
            record.kind,
            "",
            numbers[0],
            "ada",
            "public",
            reference in self.deprecated,
            self.deprecated.get(reference, ""),
            True,
            lines,
        )

    def parcel(self, name: str, number: str, *, count: bool = True) -> Parcel:
        if count:
            self.downloads.append((name, number))
        found = self.parcels[name][number]
        return found._replace(yanked=self.yanked.get((name, number), ""))


def seal_of(*publishers: Publisher, policy: Policy = Policy.REQUIRE) -> Seal:
    return Seal(policy, {each.key.id: each.key for each in publishers}, time.time())
