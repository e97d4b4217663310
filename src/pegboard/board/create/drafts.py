"""A tool that somebody wants to hang: from what an agent sends, a folder, or a Python file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegboard.errors import UsageError
from pegboard.formats.strict_yaml import YamlError, load
from pegboard.model.content import ItemFile, Json
from pegboard.model.items import (
    CREATED,
    Form,
    ItemId,
)
from pegboard.sources.folder.bundle import PartUnreadable, make_file, read_bundle
from pegboard.sources.folder.python_tool import python_fields
from pegboard.sources.tree import Tree
from pegboard.sources.unfit import Unfit

MANIFEST = "tool.yaml"


class Draft(NamedTuple):
    """A tool that somebody wants to hang."""

    name: str
    category: str
    form: Form
    fields: Json
    files: tuple[ItemFile, ...]
    document: bytes = b""

    @property
    def id(self) -> ItemId:
        return ItemId(f"{CREATED}:{self.category}:{self.name}")


def draft_of(manifest: Mapping[str, object] | str, files: Mapping[str, str | bytes]) -> Draft:
    """From what an agent sends: a manifest as an object or as the text of `tool.yaml`."""
    if MANIFEST in files:
        raise UsageError(f"files has {MANIFEST} in it", "give the manifest by itself")
    what = "the manifest"
    try:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest, ensure_ascii=False)
        document = make_file(MANIFEST, text.encode())
        made = []
        for what, content in sorted(files.items()):
            made.append(make_file(what, content.encode() if isinstance(content, str) else content))
    except UnicodeEncodeError as error:
        raise UsageError(f"{what!a} is not valid Unicode: {error.reason}", "correct it") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the manifest cannot be written as JSON: {error}") from error
    return _manifest_draft(text, (*made, document))


def draft_at(path: Path, category: str, max_file_bytes: int) -> Draft:
    """From a folder with its `tool.yaml`, or from a single Python file."""
    place = path.expanduser().absolute()
    try:
        if place.is_dir() and (place / MANIFEST).exists():
            tree = Tree(CREATED, place, max_file_bytes)
            files = read_bundle(tree, place, MANIFEST, max_file_bytes)
            text = next(each.content for each in files if each.path == MANIFEST)
            draft = _manifest_draft(text.decode("utf-8-sig"), files)
            return draft._replace(category=category) if category else draft
        if place.suffix == ".py" and place.is_file():
            return _python_draft(place, category)
    except Unfit as unfit:
        raise UsageError(f"{path} is no tool: {unfit.reason}") from unfit
    except (PartUnreadable, OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    raise UsageError(
        f"{path} is no tool", f"give a folder with a {MANIFEST}, or a Python file with a docstring"
    )


def _python_draft(place: Path, category: str) -> Draft:
    content = place.read_bytes()
    folders = [part for part in category.split("/") if part]
    fields = python_fields(content, place.name, folders)
    said = category or str(fields.get("category", ""))
    return Draft(place.stem, said, Form.FIELDS, fields, (make_file(place.name, content),))


def _manifest_draft(text: str, files: tuple[ItemFile, ...]) -> Draft:
    """Name and category are read here, to make the id; the gate reads everything else."""
    try:
        said = load(text)
    except YamlError:
        said = None
    found = said if isinstance(said, Mapping) else {}
    parts = [str(found[key]) for key in ("category", "subcategory") if found.get(key)]
    name = str(found.get("tool_id") or "tool")
    return Draft(name, "/".join(parts).strip("/"), Form.MANIFEST, {}, files, text.encode())
