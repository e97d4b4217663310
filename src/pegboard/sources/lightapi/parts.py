"""One mapping of a document, read key by key, each with its own check."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pegboard.model.content import EMPTY, Json
from pegboard.sources.unfit import Unfit


class Refused(Unfit):
    """Why a part of a document cannot be used, and where it stands."""

    def __init__(self, code: str, reason: str, path: tuple[str, ...] = ()) -> None:
        super().__init__(code, reason)
        self.path = path


class Part(NamedTuple):
    value: Json
    path: tuple[str, ...] = ()

    def has(self, *keys: str) -> bool:
        return all(self.value.get(key) is not None for key in keys)

    def text(self, key: str, choices: Sequence[str] = (), pattern: str = "") -> str:
        """Empty if it is not there."""
        found = self.value.get(key)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise self.misfit(key, "text")
        if not found.strip():
            raise self.misfit(key, "text that is not empty")
        if choices and found not in choices:
            raise self.misfit(key, f"one of {', '.join(choices)}")
        if pattern and not re.fullmatch(pattern, found):
            raise self.misfit(key, f"of the form {pattern}")
        return found

    def required(self, key: str, choices: Sequence[str] = ()) -> str:
        found = self.text(key, choices)
        if not found:
            raise self.lacks(key)
        return found

    def texts(self, key: str) -> list[str]:
        found = self.value.get(key)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.misfit(key, "a list of texts")
        return found

    def flag(self, key: str) -> bool | None:
        found = self.value.get(key)
        if found is not None and not isinstance(found, bool):
            raise self.misfit(key, "true or false")
        return found

    def part(self, key: str) -> "Part":
        """An empty one if it is not there."""
        found = self.value.get(key)
        if found is None:
            return Part(EMPTY, (*self.path, key))
        if not isinstance(found, Mapping):
            raise self.misfit(key, "a mapping")
        return Part(found, (*self.path, key))

    def parts(self) -> Iterator[tuple[str, "Part"]]:
        for key in self.value:
            yield key, self.part(key)

    def kept(self, *keys: str) -> dict[str, object]:
        """The values of these keys as they are written, without those that are not there."""
        return {key: self.value[key] for key in keys if self.has(key)}

    def lacks(self, key: str) -> Refused:
        return Refused("incomplete", f"{self.place()} has no {key}; give it one", self.path)

    def misfit(self, key: str, wanted: str) -> Refused:
        reason = f"{self.place(key)} is {shown(self.value.get(key))}; it must be {wanted}"
        return Refused("bad_field", reason, (*self.path, key))

    def place(self, *keys: str) -> str:
        return ".".join(shown_key(key) for key in (*self.path, *keys)) or "the document"


def shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a huge number"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def shown_key(key: str) -> str:
    """A key of somebody else's document as it may stand in a sentence of ours."""
    plain = key if key.isprintable() else ascii(key)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."
