"""The page of one item: everything about it, and what whoever looks may do with it."""

import shlex
from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.curate.editing import etag
from pegboard.errors import ItemAmbiguous, ItemNotFound
from pegboard.model.items import (
    CREATED,
    DEFAULT_NAMESPACE,
    PUBLISHED,
    Drift,
    Entry,
    Item,
    Kind,
    qualified,
)
from pegboard.serve.http.site import site_of
from pegboard.serve.web import facts
from pegboard.serve.web.embedding import Embedding, embedding_of
from pegboard.serve.web.examples import Example, examples
from pegboard.serve.web.forms import sheet
from pegboard.serve.web.listing import State, state_of
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import CALL, category_path, item_path, quoted, search_path
from pegboard.serve.web.prose import Block, blocks
from pegboard.serve.web.schemas import Table, table
from pegboard.serve.web.shelves import ShelfView, shelf_of
from pegboard.serve.web.visits import Visit, page, sent_on
from pegboard.text import prose, sections

DONE = {
    "described": "The description is saved. Agents read it from now on.",
    "reset": "The description is the source's own again.",
    "tagged": "The tags are saved.",
    "tags-reset": "The tags are the source's own again.",
    "deactivated": "It is switched off: nobody finds or calls it until it is switched on.",
    "activated": "It is switched on again.",
    "refreshed": "A new vector is on its way.",
    "retried": "It is tried again.",
    "yanked": "The version is taken back: it is had only by its exact number.",
    "unyanked": "The version is offered again.",
    "deprecated": "It is marked as deprecated.",
    "undeprecated": "It is no longer marked as deprecated.",
    "shown": "Who may see it is saved.",
    "given": "It is theirs from now on.",
}


class Tag(NamedTuple):
    name: str
    path: str


class Rights(NamedTuple):
    """What whoever looks may do with the item."""

    decide: bool
    remove: bool
    approve: bool


class Origin(NamedTuple):
    source: str
    origin: str
    protocol: str
    endpoint: str
    author: str
    permissions: tuple[str, ...]
    created: Moment | None
    updated: Moment | None
    server: facts.ServerView | None
    signature: facts.SignatureView


class Words(NamedTuple):
    """What is said about it."""

    said: tuple[Block, ...]
    further: str
    """The sections of a docstring."""
    text: str
    """As it is edited."""
    own: bool
    """Whether a person gave it."""
    by: str
    at: Moment | None
    imported: str
    document: tuple[Block, ...]
    written: str
    """The document as it is written."""


class ItemView(NamedTuple):
    path: str
    call_path: str
    id: str
    short_name: str
    name: str
    title: str
    namespace: str
    kind: str
    type: str
    category: str
    category_path: str
    state: State
    notes: tuple[str, ...]
    off_reason: str
    tags: tuple[Tag, ...]
    tags_text: str
    own_tags: bool
    imported_tags: str
    words: Words
    asks: Table | None
    gives: Table | None
    examples: tuple[Example, ...]
    origin: Origin
    versions: tuple[facts.VersionView, ...]
    shelf: ShelfView | None
    """Its versions, if they were published."""
    files: tuple[facts.FileView, ...]
    ties: tuple[facts.TieView, ...]
    runs: facts.RunsView
    events: tuple[facts.EventLine, ...]
    embedding: Embedding
    mark: str
    """What the item is now; a decision is made about exactly that."""
    rights: Rights
    runs_here: bool
    """Whether it can be tried."""


def show(visit: Visit) -> Response:
    name = visit.request.path_params["id"]
    try:
        entry = chosen(visit, name, files=visit.part != "embedding")
    except ItemNotFound:
        if not name.endswith(CALL):
            raise
        return sent_on(f"/ui/items/{quoted(name.removesuffix(CALL))}")
    if visit.part == "embedding":
        return page(
            visit,
            "parts/embedding.html",
            "",
            embedding=embedding_of(entry),
            path=item_path(entry.item.namespace, entry.item.id),
            decides=rights_of(visit, entry).decide,
        )
    return item_page(visit, entry, done=DONE.get(visit.query.get("done", ""), ""))


def chosen(visit: Visit, name: str, *, files: bool = True) -> Entry:
    """The item of this name; links name the one in `public` by its id alone."""
    try:
        return visit.board.curate.chosen(name, files=files)
    except ItemAmbiguous as several:
        try:
            return visit.board.curate.chosen(f"{DEFAULT_NAMESPACE}/{name}", files=files)
        except ItemNotFound:
            raise several from None


def item_page(visit: Visit, entry: Entry, code: int = 200, **more: object) -> Response:
    """With what has just been done or tried, if something was, and what was typed in vain."""
    values: dict[str, object] = {"done": "", "tried": None, "wrong": "", "typed": {}}
    values |= {"sheet": sheet(entry.item.input_schema), **more}
    return page(visit, "item.html", "", code, item=view(visit, entry), **values)


def view(visit: Visit, entry: Entry) -> ItemView:
    item, board = entry.item, visit.board
    about = board.curate.about(entry)
    name = qualified(item.namespace, item.id)
    base = site_of(board.settings.serve).lasting(visit.request.scope)
    return ItemView(
        path=item_path(item.namespace, item.id),
        call_path=item_path(item.namespace, item.id) + CALL,
        id=name,
        short_name=item.short_name,
        name=item.name,
        title=item.title,
        namespace=item.namespace,
        kind=item.kind.value,
        type=str(item.tool_type or ""),
        category=item.category,
        category_path=category_path(item.category),
        state=state_of(entry),
        notes=_notes(entry),
        off_reason=entry.off_reason,
        tags=tuple(Tag(each, search_path(("tag", each))) for each in item.tags),
        tags_text=", ".join(item.tags),
        own_tags=entry.tags_override,
        imported_tags=", ".join(entry.imported_tags),
        words=_words(entry),
        asks=table(item.input_schema) if item.input_schema else None,
        gives=table(item.output_schema) if item.output_schema else None,
        examples=_examples(item, name, base),
        origin=_origin(visit, entry),
        versions=facts.versions_of(board, item) if item.source != PUBLISHED else (),
        shelf=shelf_of(board, entry),
        files=facts.files_of(item),
        ties=facts.ties_of(about.ties),
        runs=facts.runs_of(board, entry, about.ran),
        events=facts.events_of(board.curate.history(entry)),
        embedding=embedding_of(entry),
        mark=etag(entry),
        rights=rights_of(visit, entry),
        runs_here=entry.active and item.kind in (Kind.TOOL, Kind.DIRECTIVE),
    )


def rights_of(visit: Visit, entry: Entry) -> Rights:
    item, caller = entry.item, visit.caller
    decides = caller.may_decide(item.namespace, item.author)
    return Rights(
        decide=decides,
        remove=decides and item.source == CREATED,
        approve=decides and entry.drift is Drift.CHANGED,
    )


def _words(entry: Entry) -> Words:
    item = entry.item
    return Words(
        said=blocks(prose(item.description)),
        further=sections(item.description).strip(),
        text=item.description,
        own=entry.manual_override,
        by=entry.override_by,
        at=moment(entry.override_at),
        imported=entry.imported_description,
        document=blocks(item.document),
        written=item.document,
    )


def _origin(visit: Visit, entry: Entry) -> Origin:
    item = entry.item
    return Origin(
        item.source,
        item.origin,
        item.source_protocol,
        item.endpoint,
        item.author,
        tuple(f"{each.access} {each.resource} {each.scope}" for each in item.permissions),
        moment(entry.created_at),
        moment(entry.updated_at),
        facts.server_of(visit.board, entry),
        facts.signature_of(item),
    )


def _examples(item: Item, name: str, base: str) -> tuple[Example, ...]:
    calls = examples(name, item.input_schema, base) if item.kind is Kind.TOOL else ()
    if item.source != PUBLISHED:
        return calls
    reference = shlex.quote(item.reference)
    taken = f"pegboard pull {reference} --registry {shlex.quote(base)}"
    return (Example("Into a project", taken), *calls)


def _notes(entry: Entry) -> tuple[str, ...]:
    """What to know before calling it."""
    item = entry.item
    notes = {
        f"It is marked as {item.deprecation}.": item.deprecated and item.source != PUBLISHED,
        "Its source no longer has it.": entry.drift is Drift.MISSING and item.source != PUBLISHED,
        "All its versions were taken back.": entry.drift is Drift.MISSING
        and item.source == PUBLISHED,
        "It is no longer what was approved.": entry.drift is Drift.CHANGED,
        "It is held back until somebody approves what it has become.": entry.drift is Drift.CHANGED
        and not entry.active,
        "An agent or a person made it on this board, and nobody signed it.": item.source == CREATED
        and item.signature is None,
        "Its signature is not trusted.": item.signature is not None and item.signature.doubtful,
    }
    return tuple(note for note, holds in notes.items() if holds)
