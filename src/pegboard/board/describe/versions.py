"""One version of an item, as it was when it was put: by `id@version`."""

import json
import re
from contextlib import suppress

from pegboard.board.describe.by_name import describe
from pegboard.errors import ItemNotFound, NotExecutable
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Entry, Filters, Form, Item, Kind, Rejection
from pegboard.ports.store import Store
from pegboard.sources.folder.python_tool import python_fields
from pegboard.sources.unfit import Unfit

LATEST = "latest"
MANIFEST = "tool.yaml"
_NUMBER = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?|latest")
_LIKE_ONE = re.compile(r"[vV]?[0-9]+(\.[0-9]+)*([-+][0-9A-Za-z.+-]+)?")
"""What people write for a number, such as 1.0 or v2; it may also be how a name ends."""

_FORMS = {
    Kind.TOOL: Form.MANIFEST,
    Kind.DIRECTIVE: Form.DIRECTIVE,
    Kind.KNOWLEDGE: Form.KNOWLEDGE,
    Kind.SKILL: Form.SKILL,
}
_RUN_BY = ("tool_type", "executor", "permissions", "input_schema", "output_schema")


def split(name: str) -> tuple[str, str]:
    """What was asked for and in which version; without one, the latest."""
    base, _, number = name.rpartition("@")
    said = number == LATEST or _LIKE_ONE.fullmatch(number)
    return (base, number) if base and said else (name, LATEST)


def found(store: Store, name: str, within: Filters) -> tuple[Entry, Item]:
    """The entry as it hangs on the board, and the item in the version that was asked for."""
    entry, number = _asked_for(store, name, within)
    item = entry.item
    if number == LATEST or (item.version and item.version.version == number):
        return entry, item
    version = store.items.version(item.id, item.namespace, number)
    if version is None:
        kept = [each.number for each in store.items.versions(item.id, item.namespace)]
        raise ItemNotFound(
            f"{item.id} has no version {number}",
            f"it has: {', '.join(kept[:20])}" if kept else "its source keeps no versions",
        )
    read = item._replace(version=version, signature=None)
    return entry, _read(read, (version.manifest_text or "").encode())


def _asked_for(store: Store, name: str, within: Filters) -> tuple[Entry, str]:
    """A number cannot be mistaken; what only looks like one may be a part of the name."""
    base, number = split(name)
    if not _NUMBER.fullmatch(number):
        with suppress(ItemNotFound):
            return describe(store, name, within), LATEST
    return describe(store, base, within), number


def is_as_written(item: Item) -> bool:
    """Whether a tool would be run as its own files say, and not only as the board has it.

    Those are what is signed. A board can be handed on with other permissions beside them.
    """
    files = item.version.files if item.version else ()
    document = next((file.content for file in files if file.path == MANIFEST), b"")
    try:
        said = _read(item, document)
    except NotExecutable:
        return False
    one, other = ([getattr(each, name) for name in _RUN_BY] for each in (item, said))
    return json.dumps(one, sort_keys=True, default=dict) == json.dumps(
        other, sort_keys=True, default=dict
    )


def _read(item: Item, document: bytes) -> Item:
    """What a document and the files of its version say, through the gate like any other."""
    version = item.version
    if version is None:
        return item
    fields: dict[str, object] = {
        "id": item.id,
        "namespace": item.namespace,
        "name": item.name,
        "kind": item.kind.value,
        "category": item.category,
        "subcategory": item.subcategory,
        "source_protocol": item.source_protocol,
        "version": version.version,
    }
    form = _FORMS[item.kind]
    try:
        if not document:
            form, file = Form.FIELDS, version.files[0]
            folders = [*filter(None, (item.category, *item.subcategory.split("/")))]
            fields = python_fields(file.content, file.path, folders) | fields
    except (IndexError, Unfit) as error:
        raise NotExecutable(f"{item.id}@{version.version} cannot be read: {error}") from error
    verdict = admit(Candidate(item.source, item.origin, "", fields, version.files, form, document))
    if isinstance(verdict, Rejection):
        raise NotExecutable(f"{item.id}@{version.version} would be refused: {verdict.reason}")
    return verdict._replace(version=version)
