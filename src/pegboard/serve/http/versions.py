"""The versions of an item: listed, one by one, to be taken away, and compared."""

import re
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field, create_model
from starlette.responses import Response

from pegboard.board.describe.comparing_versions import FileDifference, differing
from pegboard.board.publish.releasing import Parcel, Shelf, packed
from pegboard.errors import ItemNotFound
from pegboard.gate.releases import Record as ReleaseRecord
from pegboard.gate.releases import read_record
from pegboard.model.content import ItemFile, Json, VersionLine
from pegboard.serve.http.conditions import not_modified, quoted
from pegboard.serve.http.items import GROUP, ItemQuery, both, chosen, in_thread
from pegboard.serve.http.replies import reply
from pegboard.serve.http.shapes import Record, Several, fields_of
from pegboard.serve.http.table import Asked, Route, Wanted
from pegboard.serve.http.telling import told_file

LATEST = "latest"
ZIP = "application/zip"
NUMBER = "Pegboard-Version"
"""The header that says which version an answer is of."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

VERSION = Record(
    "VersionDetail",
    {
        "namespace": str,
        "id": str,
        **fields_of(VersionLine),
        "latest": bool,
        "manifest": Json,
        "manifest_text": str | None,
        "files": tuple[ItemFile, ...],
        "record": ReleaseRecord | None,
        "signature": str,
        "bundle": str,
    },
)


COMPARED = Record(
    "Compared",
    {
        "namespace": str,
        "id": str,
        "from": str,
        "to": str,
        "files": Several(FileDifference),
    },
)

# `from` is a word of Python, and so no name of a field that is written down.
_SIDES: dict[str, Any] = {
    "from": (Annotated[str, Field(max_length=200, description="The one before.")], ...),
    "to": (Annotated[str, Field(max_length=200, description="The one after.")], LATEST),
}
DiffQuery = create_model("DiffQuery", __base__=Wanted, **_SIDES)


def shelf_of(asked: Asked) -> Shelf:
    """All versions of the item that the path names."""
    item = chosen(asked).item
    return asked.board.releases.shelf(item.reference)


def get_versions(asked: Asked) -> Response:
    return reply(shelf_of(asked))


def number_of(shelf: Shelf, said: str) -> str:
    """The number of the version that was asked for."""
    if said != LATEST:
        return said
    if not shelf.latest:
        raise ItemNotFound(
            f"{shelf.id} has no version that is offered", "ask for one by its number"
        )
    return shelf.latest


def get_version(asked: Asked) -> Response:
    shelf = shelf_of(asked)
    number = number_of(shelf, asked.path["version"])
    found = asked.board.releases.version(shelf.reference, number)
    line = next((each for each in shelf.versions if each.number == number), None)
    if line is None:  # it was dropped just now
        raise ItemNotFound(f"{shelf.id} has no version {number}")
    told: dict[str, object] = {
        "namespace": shelf.namespace,
        "id": shelf.id,
        **line._asdict(),
        "latest": number == shelf.latest,
        "manifest": found.manifest,
        "manifest_text": found.manifest_text,
        "files": [told_file(each, asked.query.files) for each in found.files],
        "record": read_record(found.release.encode()) if found.release else None,
        "signature": found.side_file,
        "bundle": packed(found).sha256 if found.release else "",
    }
    return reply(told, headers={NUMBER: number})


async def get_bundle(asked: Asked) -> Response:
    # Large files may lie far away: whoever asks for something else does not wait for them.
    return await asked.threads.run_slow(partial(_bundle, asked))


def _bundle(asked: Asked) -> Response:
    """Whoever asks only whether it is there, or has it already, takes nothing away."""
    shelf = shelf_of(asked)
    number = number_of(shelf, asked.path["version"])
    releases = asked.board.releases
    counts = asked.request.method != "HEAD"
    parcel: Parcel | None = None
    if "if-none-match" in asked.request.headers:
        parcel = releases.parcel(shelf.reference, number, count=False)
        if not_modified(asked.request, parcel.sha256):
            headers = quoted(parcel.sha256) | {NUMBER: number}
            return Response(status_code=304, headers=headers)
    parcel = releases.parcel(shelf.reference, number, count=counts)
    headers = {
        **quoted(parcel.sha256),
        NUMBER: number,
        "Content-Disposition": disposition(f"{shelf.id.rpartition(':')[2]}-{number}.zip"),
    }
    if counts:
        asked.request.app.state.gateway.measures.downloads.add()
    return Response(parcel.bundle, headers=headers, media_type=ZIP)


def disposition(name: str) -> str:
    """A file to keep under this name; the first is for whoever cannot read the second."""
    plain = _UNSAFE.sub("_", name).lstrip(".") or "bundle.zip"
    exact = quote(name, safe="", errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"


def get_signature(asked: Asked) -> Response:
    shelf = shelf_of(asked)
    number = number_of(shelf, asked.path["version"])
    found = asked.board.releases.version(shelf.reference, number)
    if not found.side_file:
        raise ItemNotFound(f"version {number} of {shelf.id} has no signature of its own")
    content = found.side_file.encode("utf-8", "replace")
    return Response(content, headers={NUMBER: number}, media_type="application/json")


def get_difference(asked: Asked) -> Response:
    shelf = shelf_of(asked)
    old, new = (number_of(shelf, getattr(asked.query, name)) for name in ("from", "to"))
    before, after = (asked.board.releases.version(shelf.reference, each) for each in (old, new))
    told = {"namespace": shelf.namespace, "id": shelf.id, "from": old, "to": new}
    return reply({**told, "files": differing(before, after)})


ROUTES = (
    *both(
        Route(
            "GET",
            "/items/{id}/versions",
            "get_item_versions",
            "The versions that are kept, newest first, and what is decided about them.",
            in_thread(get_versions),
            answer=Shelf,
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/versions/{version}",
            "get_item_version",
            "Everything about one version.",
            in_thread(get_version),
            query=ItemQuery,
            answer=VERSION,
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/versions/{version}/bundle",
            "get_item_bundle",
            "A version that was published, as the ZIP archive that was signed.",
            get_bundle,
            answer={"type": "string", "format": "binary"},
            media_type=ZIP,
            statuses=(200, 304),
            headers=("If-None-Match",),
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/versions/{version}/signature",
            "get_item_signature",
            "The side file with the signature of a version.",
            in_thread(get_signature),
            answer={"type": "object"},
            group=GROUP,
            problems=(409,),
        )
    ),
    *both(
        Route(
            "GET",
            "/items/{id}/diff",
            "get_item_diff",
            "What is different between two versions, file by file.",
            in_thread(get_difference),
            query=DiffQuery,
            answer=COMPARED,
            group=GROUP,
            problems=(409,),
        )
    ),
)
