"""Tools that are made here and hang on the board of a gateway."""

import base64
from collections.abc import Mapping

from pegboard.board.create.drafts import MANIFEST, Draft, draft_of
from pegboard.board.create.making import Created
from pegboard.formats.strict_yaml import load
from pegboard.model.answers import Hit
from pegboard.model.content import ItemFile, Json
from pegboard.model.items import Form, ItemId
from pegboard.remote.asking import Gateway
from pegboard.remote.connection import Request
from pegboard.remote.running import LONGEST_CALL, call_result

STATES = {"alike": "alike", "refused": "refused", "trial_failed": "failed"}
"""What becomes of a draft that does not hang, by the code of the problem that it is."""


def create(
    gateway: Gateway, draft: Draft, *, anyway: bool = False, try_with: Json | None = None
) -> Created:
    body: dict[str, object] = {
        "manifest": _manifest(draft),
        "files": {each.path: _content(each) for each in draft.files if each.path != MANIFEST},
        "anyway": anyway,
    }
    if try_with is not None:
        body["try_with"] = dict(try_with)
    answered = gateway.ask(
        Request("POST", "/tools", body=body, seconds=LONGEST_CALL, taken=tuple(STATES))
    )
    told = answered.value if isinstance(answered.value, dict) else {}
    trial = told.get("trial")
    return Created(
        state=STATES[answered.code] if answered.code else gateway.value(str, told.get("state")),
        id=ItemId(gateway.value(str, told.get("id"))),
        version=str(told.get("version", "")),
        reason=str(told.get("reason", "")),
        alike=tuple(gateway.listed(Hit, {"alike": told.get("alike", [])}, "alike")),
        trial=call_result(gateway, trial) if isinstance(trial, dict) else None,
    )


def _manifest(draft: Draft) -> Mapping[str, object] | str:
    """As it is written, if that says all; a Python file alone has none, and gets one."""
    first, _, rest = draft.category.partition("/")
    place = {"category": first, "subcategory": rest}
    place = {name: value for name, value in place.items() if value}
    if draft.form is Form.MANIFEST:
        text = draft.document.decode("utf-8-sig")
        if draft_of(text, {}).category == draft.category:
            return text
        said = load(text)
        return {**said, **place} if isinstance(said, Mapping) else text
    said = draft.fields.get("manifest")
    schemas = {
        name: draft.fields[name]
        for name in ("input_schema", "output_schema")
        if draft.fields.get(name)
    }
    return {**(said if isinstance(said, Mapping) else {}), **schemas, **place}


def _content(file: ItemFile) -> object:
    try:
        return file.content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(file.content).decode()}
