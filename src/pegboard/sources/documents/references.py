"""What a `$ref` stands for: in the document itself, or in others around it."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from pegboard.errors import SourceError
from pegboard.sources.documents.faults import BadReference, Unreadable
from pegboard.sources.documents.fetching import Fetcher
from pegboard.sources.documents.parsing import Repair, parsed
from pegboard.sources.unfit import Unfit

MAX_DOCUMENTS = 500
MAX_CHAIN = 50
"""References that lead to references."""


class Target(NamedTuple):
    """A value, and where it stands: relative references in it count from there."""

    place: str
    pointer: str
    value: object


class Node(NamedTuple):
    value: Mapping[str, object]
    place: str


class Library:
    """All documents of one source, each read once and when it is first needed."""

    def __init__(self, fetcher: Fetcher) -> None:
        """Raises `SourceError` if the document itself cannot be read."""
        self._fetcher = fetcher
        first = fetcher.first()
        self.place = first.place
        found = parsed(first.content, first.place)
        self.data = found.data
        self.repairs: tuple[Repair, ...] = found.repairs
        self._documents: dict[str, object] = {self.place: found.data}
        self._unreadable: dict[str, str] = {}
        self._targets: dict[tuple[str, str], Target] = {}

    def target(self, reference: object, base: str) -> Target:
        if not isinstance(reference, str):
            raise BadReference(reference, "is no text")
        known = self._targets.get((reference, base))
        if known is None:
            known = self._targets[reference, base] = self._look_up(reference, base)
        return known

    def followed(self, value: object, base: str, what: str) -> Node:
        """The object itself, or the one at the end of its references.

        What stands beside a `$ref` counts more than what it leads to.
        """
        beside: dict[str, object] = {}
        for _ in range(MAX_CHAIN):
            if not isinstance(value, dict):
                raise Unfit("bad_type", f"{what} is no object")
            if "$ref" not in value:
                return Node({**value, **beside}, base)
            beside = {k: each for k, each in value.items() if k != "$ref"} | beside
            base, _, value = self.target(value["$ref"], base)
        raise Unfit("bad_reference", f"the $ref of {what} leads back to itself")

    def _look_up(self, reference: str, base: str) -> Target:
        named, _, fragment = reference.partition("#")
        place = self._fetcher.place_of(named, base) if named else base
        value = self._document(place, reference)
        pointer = unquote(fragment)
        if pointer and not pointer.startswith("/"):
            raise BadReference(reference, "is no JSON pointer; anchors are not followed")
        for token in pointer.split("/")[1:]:
            value = _child(value, token.replace("~1", "/").replace("~0", "~"), reference)
        return Target(place, pointer, value)

    def _document(self, place: str, reference: str) -> object:
        if place in self._unreadable:
            raise Unreadable(reference, self._unreadable[place])
        if place not in self._documents:
            try:
                if len(self._documents) >= MAX_DOCUMENTS:
                    raise SourceError(f"there are more than {MAX_DOCUMENTS} documents")
                found = parsed(self._fetcher.neighbour(place).content, place)
            except SourceError as error:
                self._unreadable[place] = f"cannot be followed: {error.message}"
                raise Unreadable(reference, self._unreadable[place]) from error
            self._documents[place] = found.data
            self.repairs += found.repairs
        return self._documents[place]


def _child(value: object, token: str, reference: str) -> object:
    if isinstance(value, dict) and token in value:
        return value[token]
    if isinstance(value, list) and token.isdecimal() and len(token) < 10:
        index = int(token)
        if index < len(value):
            return value[index]
    raise BadReference(reference, f"leads nowhere: there is no {token[:100]!a}")
