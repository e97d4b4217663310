"""Items behind a gateway: how they are read, and what people decide about them."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from http import HTTPMethod

from pegboard.board.curate.editing import About
from pegboard.errors import UsageError
from pegboard.model.curation import Happening, LooseLink, Tie
from pegboard.model.items import Entry, Rejection
from pegboard.model.runs import RunCounts
from pegboard.remote.asking import Gateway, of_item
from pegboard.remote.connection import Request


class RemoteCurating:
    """Who decides is who the token is of: the gateway writes that down, whatever is said here."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._seen: dict[str, str] = {}
        """The ETags of items, by their whole names, as the gateway gave them."""

    def chosen(self, name: str, *, files: bool = False) -> Entry:
        return self.about(name, files=files).entry

    def about(self, name: str, *, files: bool = True) -> About:
        found = self._gateway.get(of_item(name), ("files", "true" if files else None))
        told = found if isinstance(found, dict) else {}
        ties = self._gateway.listed(Tie, {"ties": told.get("ties", [])}, "ties")
        ran = self._gateway.value(RunCounts, told.get("runs", {}))
        return About(self._entry(found), ties, ran)

    def describe(self, name: str, text: str, by: str) -> Entry:
        if not text.strip():
            raise UsageError("the description is empty", "give a text, or reset it to the source's")
        return self._edit(name, {"description": text})

    def reset(self, name: str, by: str) -> Entry:
        return self._edit(name, {"description": None})

    def tag(self, name: str, tags: Sequence[str] | None, by: str) -> Entry:
        return self._edit(name, {"tags": None if tags is None else list(tags)})

    def deactivate(self, name: str, by: str, reason: str = "") -> Entry:
        return self._edit(name, {"active": False} | ({"reason": reason} if reason else {}))

    def activate(self, name: str, by: str) -> Entry:
        return self._edit(name, {"active": True})

    def removable(self, name: str) -> Entry:
        """Whether it is, the gateway says when it is to be removed."""
        return self.chosen(name)

    def remove(self, entry: Entry, by: str, expected: str | None = None) -> None:
        """With what is expected, only as it was when it was last read here."""
        seen = self._seen.get(entry.item.reference, expected) if expected else None
        match = (("If-Match", f'"{seen}"'),) if seen else ()
        self._gateway.ask(Request(HTTPMethod.DELETE, of_item(entry.item.reference), headers=match))

    def ties(self, entry: Entry) -> list[Tie]:
        return self._gateway.listed(
            Tie, self._gateway.get(of_item(entry.item.reference, "/links")), "links"
        )

    def loose_links(self) -> list[LooseLink]:
        return self._gateway.listed(LooseLink, self._gateway.get("/links"), "links")

    def history(self, name: str) -> Sequence[Happening]:
        found = self._gateway.get(of_item(name, "/history"))
        return self._gateway.listed(Happening, found, "history")

    def rejections(self, source: str | None = None) -> list[Rejection]:
        found = self._gateway.get("/rejections", ("source", source))
        return self._gateway.listed(Rejection, found, "rejections")

    def _edit(self, name: str, change: Mapping[str, object]) -> Entry:
        request = Request("PATCH", of_item(name), body=change)
        return self._entry(self._gateway.ask(request).value)

    def _entry(self, found: object) -> Entry:
        entry = self._gateway.value(Entry, _whole(found))
        if isinstance(found, dict) and isinstance(found.get("etag"), str):
            self._seen[entry.item.reference] = found["etag"]
        return entry


def _whole(found: object) -> object:
    """With what a gateway keeps to itself, and with the bytes of files as they are."""
    match found:
        case {"item": {"version": {"files": [*files], **version}, **item}, **rest}:
            told = {**version, "files": [whole_file(each) for each in files]}
            return {"key": 0, **rest, "item": {**item, "version": told}}
        case dict():
            return {"key": 0, **found}
    return found


def whole_file(found: object) -> object:
    """A file with its bytes, as they were told."""
    if not isinstance(found, dict):
        return found
    content: object = found.get("content", "")
    if isinstance(said := found.get("base64"), str):
        try:
            content = base64.b64decode(said, validate=True)
        except binascii.Error:
            content = None  # which is no content, as will be said
    return {**found, "content": content}
