"""One version of an item, as it was when it was put: by `id@version`."""

import json
import re

from pegboard.board.describe.by_name import describe, no_version
from pegboard.errors import NotExecutable
from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Entry, Filters, Form, Item, Kind, Rejection
from pegboard.ports.store import Store
from pegboard.sources.folder.python_tool import python_fields
from pegboard.sources.unfit import Unfit

LATEST = "latest"
MANIFEST = "tool.yaml"
_NUMBER = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?|latest")

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
    return (base, number) if base and _NUMBER.fullmatch(number) else (name, LATEST)


def found(store: Store, name: str, within: Filters) -> tuple[Entry, Item]:
    """The entry as it hangs on the board, and the item in the version that was asked for."""
    base, number = split(name)
    entry = describe(store, base, within)
    item = entry.item
    if number == LATEST or (item.version and item.version.version == number):
        return entry, item
    version = store.items.version(item.id, item.namespace, number)
    if version is None:
        raise no_version(store, item, number)
    read = item._replace(version=version, signature=None)
    return entry, _read(read, (version.manifest_text or "").encode())


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
