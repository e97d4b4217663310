"""What is read and not run: its inputs checked, and its text for whoever follows it."""

import base64
import json
from collections.abc import Callable

from pegboard.model.calls import CallResult, Outcome
from pegboard.model.content import ItemFile, Json
from pegboard.model.items import Item, Kind

FILE = "file"
"""The argument with which a skill's other files are asked for."""

Complaints = Callable[[Json, Json], str]


def followed(item: Item, arguments: Json, complaints: Complaints) -> CallResult:
    """The text of a directive, skill or entry of knowledge, with the inputs that were given."""
    if item.kind is Kind.SKILL and FILE in arguments:
        return _file(item, str(arguments[FILE]))
    if wrong := complaints(arguments, item.input_schema):
        return CallResult(Outcome.INVALID_ARGUMENTS, error=f"{item.id} was not read. {wrong}")
    lines = [f"{item.id} is a {item.kind}: read it and follow it yourself. Nothing was run."]
    if arguments:
        lines.append(f"inputs: {json.dumps(dict(arguments), ensure_ascii=False)}")
    files = [each.path for each in item.version.files] if item.version else []
    if item.kind is Kind.SKILL and len(files) > 1:
        lines.append(f'files, each read with {{"{FILE}": path}}: {", ".join(files)}')
    structured = {"id": item.id, "inputs": dict(arguments), "text": item.document, "files": files}
    text = "\n".join([*lines, "", item.document])
    return CallResult(Outcome.OK, ({"type": "text", "text": text},), structured)


def _file(item: Item, path: str) -> CallResult:
    files = {each.path: each for each in item.version.files} if item.version else {}
    if (file := files.get(path)) is None:
        said = f"{item.id} has no file {path!r}; it has: {', '.join(files) or 'none'}"
        return CallResult(Outcome.INVALID_ARGUMENTS, error=said)
    return CallResult(Outcome.OK, (_block(file),))


def _block(file: ItemFile) -> Json:
    try:
        return {"type": "text", "text": file.content.decode("utf-8")}
    except UnicodeDecodeError:
        blob = base64.b64encode(file.content).decode()
        resource = {"uri": f"file:///{file.path}", "mimeType": file.media_type, "blob": blob}
        return {"type": "resource", "resource": resource}
