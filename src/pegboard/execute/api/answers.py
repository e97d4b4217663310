"""What a service answered, as the result of a call."""

import base64
import codecs
import json
import re
from http import HTTPStatus

from pegboard.execute.answered_json import as_object, read_json
from pegboard.execute.api.bodies import is_json, kind_of
from pegboard.execute.api.faults import Refused
from pegboard.execute.api.filenames import name_of
from pegboard.execute.api.response_path import part_at
from pegboard.execute.api.sending import Answer
from pegboard.execute.secrets import Secrets
from pegboard.model.calls import Artifact, CallResult, Outcome
from pegboard.model.content import Json

MAX_SHOWN = 4_000
"""Characters of what a service says about an error."""
MAX_IMAGE = 512 << 10
"""Bytes of an image that an agent is shown at once; a larger one is only a file."""
MAX_DEPTH = 100
_TOLD = ("content-type", "link", "location", "retry-after")
_TEXTS = frozenset(
    {
        *("application/xml", "application/yaml", "application/x-yaml", "application/javascript"),
        *("application/x-ndjson", "application/jsonl", "application/x-www-form-urlencoded"),
        *("application/graphql", "application/sql", "application/toml"),
    }
)
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_CODECS = re.compile(
    r"utf-(8|16|32)(-[bl]e)?|utf_8_sig|ascii|cp\d+|iso8859-\d+|koi8.*|mac.*|shift_jis.*|euc_.*|gb.*|big5.*"
)
"""Others are no character sets, or take long."""


def result(answer: Answer, response_path: str, secrets: Secrets) -> CallResult:
    meta: Json = {"http": _told(answer)}
    if answer.status >= 300 or answer.status < 200:
        return _failure(answer, secrets)._replace(meta=meta)
    try:
        return _success(answer, response_path)._replace(meta=meta)
    except Refused as refused:
        return CallResult(refused.outcome, error=refused.error, meta=meta)


def text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def text_of(answer: Answer) -> str:
    charset = re.search(r"charset=\"?([\w.:-]{1,40})", answer.headers.get("content-type", ""), re.I)
    try:
        name = codecs.lookup(charset[1]).name if charset else "utf-8"
    except LookupError:
        name = "utf-8"
    if name == "utf-8" or not _CODECS.fullmatch(name):
        name = "utf-8-sig"
    return answer.body.decode(name, "replace")


def json_in(text: str) -> object:
    """Raises `ValueError`, also for what is too deep to be handed on."""
    value = read_json(text)
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return value
    raise ValueError("it is nested too deeply")


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _success(answer: Answer, response_path: str) -> CallResult:
    kind = kind_of(answer.headers.get("content-type", ""))
    if response_path:
        return _part(answer, response_path)
    if not answer.body:
        return CallResult(Outcome.OK, content=(text_block(""),))
    if is_json(kind) or (not kind and answer.body.lstrip()[:1] in (b"{", b"[")):
        return _json(answer)
    if _is_text(kind, answer.body):
        return CallResult(Outcome.OK, content=(text_block(text_of(answer)),))
    return _file(answer, kind)


def _is_text(kind: str, body: bytes) -> bool:
    if kind:
        return kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+xml", "+yaml"))
    try:
        return "\0" not in body.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _json(answer: Answer) -> CallResult:
    text = text_of(answer)
    try:
        value = json_in(text)
    except ValueError as error:
        said = f"the answer is called JSON and cannot be read as such: {error}"
        return CallResult(Outcome.OK, content=(text_block(text),), logs=said)
    return CallResult(Outcome.OK, content=(text_block(text),), structured=as_object(value))


def _part(answer: Answer, response_path: str) -> CallResult:
    try:
        value = json_in(text_of(answer))
    except ValueError as error:
        told = f"response_path is {response_path}, and the answer is no JSON: {error}"
        return CallResult(Outcome.FAILED, error=told)
    found = part_at(value, response_path)
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return CallResult(Outcome.OK, content=(text_block(text),), structured=as_object(found))


def _file(answer: Answer, kind: str) -> CallResult:
    path = answer.target.path.partition("?")[0]
    name = name_of(answer.headers.get("content-disposition", ""), path, kind)
    kind = kind or "application/octet-stream"
    blocks = [text_block(f"{name}: {kind}, {len(answer.body):,} bytes")]
    if kind in _IMAGES and len(answer.body) <= MAX_IMAGE:
        data = base64.b64encode(answer.body).decode("ascii")
        blocks.append({"type": "image", "data": data, "mimeType": kind})
    artifact = Artifact(name, kind, answer.body)
    return CallResult(Outcome.OK, content=tuple(blocks), artifacts=(artifact,))


def _failure(answer: Answer, secrets: Secrets) -> CallResult:
    error = f"HTTP {answer.status} {_phrase(answer.status)}".strip()
    if answer.status < 400:
        error += ", which leads nowhere that can be followed"
    kind = kind_of(answer.headers.get("content-type", ""))
    if not answer.body or not (is_json(kind) or _is_text(kind, answer.body)):
        return CallResult(Outcome.FAILED, error=error)
    said = secrets.hide(text_of(answer))
    if len(said) > MAX_SHOWN:
        said = f"{said[:MAX_SHOWN]} ..."
    return CallResult(Outcome.FAILED, content=(text_block(said),), error=error)


def _phrase(status: int) -> str:
    """The usual words: a service could write anything there."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _told(answer: Answer) -> dict[str, object]:
    """What is of use to who asked: how it went on, where it goes on, how often one may ask."""
    told = {
        name: value
        for name, value in answer.headers.items()
        if name in _TOLD or name.startswith(("x-ratelimit-", "ratelimit"))
    }
    return {"status": answer.status, **told}
