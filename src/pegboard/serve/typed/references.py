"""References inside a schema: what they lead to, and which definitions of many tools are the same.

The tools of a service carry the same definitions again and again. Two are the same if they have
the same name and the same text, and so has everything that they lead to.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

from pegboard.formats.plain import pointed
from pegboard.serve.typed.circles import circles

Schema: TypeAlias = Mapping[str, object]
Place: TypeAlias = tuple[str, int]
"""By which a target is known, as long as its document is."""


class Target(NamedTuple):
    """A schema that is referred to."""

    name: str
    """The last part of the reference."""
    schema: object
    root: Schema
    """What `#` means inside of it."""


class References:
    def __init__(self, document: Schema) -> None:
        self.document = document
        self._anchors: dict[str, Schema] | None = None
        self._keys: dict[Place, str] = {}
        self._edges: dict[Place, list[Target]] = {}

    def target(self, reference: object, root: Schema) -> Target | None:
        """None for what leads nowhere, or out of the schema."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        fragment = unquote(reference[1:])
        if fragment and not fragment.startswith("/"):
            found: object = self._anchored().get(fragment)
        else:
            found = pointed(root, fragment)
        if not isinstance(found, Mapping | bool):
            return None
        return Target(fragment.rpartition("/")[2].lstrip("#"), found, root)

    def key(self, target: Target) -> str:
        """The same for definitions that are the same, in whichever tools."""
        if _place(target) not in self._keys:
            self._name_all(target)
        return self._keys[_place(target)]

    def _anchored(self) -> dict[str, Schema]:
        if self._anchors is None:
            self._anchors = {}
            for each in _schemas(self.document):
                for keyword in ("$anchor", "$dynamicAnchor"):
                    self._anchors.setdefault(str(each.get(keyword)), each)
                if str(each.get("$id")).startswith("#"):
                    self._anchors.setdefault(str(each["$id"])[1:], each)
        return self._anchors

    def _leads(self, target: Target) -> list[Target]:
        found = self._edges.get(_place(target))
        if found is None:
            inside = _schemas(target.schema)
            led = (self.target(each.get("$ref"), target.root) for each in inside)
            found = self._edges[_place(target)] = [each for each in led if each]
        return found

    def _name_all(self, start: Target) -> None:
        known = {_place(start): start}

        def leads(place: Place) -> list[Place]:
            found = {_place(each): each for each in self._leads(known[place])}
            known.update(found)
            return [each for each in found if each not in self._keys]

        for group in circles([_place(start)], leads):
            self._name_circle([known[each] for each in group])

    def _name_circle(self, members: list[Target]) -> None:
        """Definitions that lead to one another are told apart by their own text."""
        own = {_place(each): _digest(each.name, _text(each.schema)) for each in members}
        beyond = {
            self._keys[_place(led)]
            for each in members
            for led in self._leads(each)
            if _place(led) not in own
        }
        whole = _digest(*sorted(own.values()), *sorted(beyond))
        for each in members:
            self._keys[_place(each)] = _digest(own[_place(each)], whole)


def _place(target: Target) -> Place:
    return target.name, id(target.schema)


def _schemas(value: object) -> Iterator[Schema]:
    """Every object in it that may be a schema."""
    ahead = [value]
    while ahead:
        each = ahead.pop()
        if isinstance(each, Mapping):
            yield each
            ahead += each.values()
        elif isinstance(each, list):
            ahead += each


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()
