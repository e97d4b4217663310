"""One version of an item, as it was when it was put: by `id@version`."""

import re

from pegboard.board.describe import describe
from pegboard.errors import ItemNotFound, NotExecutable
from pegboard.gate.admission import admit
from pegboard.model import Candidate, Entry, Filters, Form, Item, Rejection
from pegboard.ports import Store
from pegboard.sources.folder_python import python_fields
from pegboard.sources.tree import Unfit

LATEST = "latest"
_NUMBER = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?|latest")


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
        kept = [each.number for each in store.items.versions(item.id, item.namespace)]
        raise ItemNotFound(
            f"{item.id} has no version {number}",
            f"it has: {', '.join(kept[:20])}" if kept else "its source keeps no versions",
        )
    return entry, _read(item._replace(version=version, signature=None))


def _read(item: Item) -> Item:
    """What the manifest and files of another version say, through the gate like any other."""
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
    form, document = Form.MANIFEST, (version.manifest_text or "").encode()
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
