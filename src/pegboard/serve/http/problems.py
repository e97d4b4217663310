"""Errors as problem details (RFC 9457), with the code that every face has for them."""

import json
import logging
from collections.abc import Mapping

from starlette.responses import Response

from pegboard.errors import (
    BoardBusy,
    BoardError,
    BoardFull,
    BoardReadOnly,
    CallError,
    ChangedMeanwhile,
    ConfigError,
    EmbeddingError,
    InvalidArguments,
    ItemAmbiguous,
    ItemHeld,
    ItemNotFound,
    NotAllowed,
    NotSignedIn,
    NotTrusted,
    PegboardError,
    SourceError,
    TookTooLong,
    TooLarge,
    TooMany,
    UsageError,
)

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

STATUS: dict[type[PegboardError], int] = {
    UsageError: 400,
    NotSignedIn: 401,
    NotAllowed: 403,
    NotTrusted: 403,
    ItemNotFound: 404,
    ItemAmbiguous: 409,
    ItemHeld: 409,
    InvalidArguments: 422,
    CallError: 409,
    ChangedMeanwhile: 412,
    TooLarge: 413,
    TooMany: 429,
    TookTooLong: 504,
    BoardReadOnly: 409,
    BoardBusy: 503,
    BoardFull: 507,
    BoardError: 503,
    EmbeddingError: 503,
    SourceError: 502,
    ConfigError: 500,
    PegboardError: 500,
}
"""The one table from error to status of an answer; the nearest class counts."""


def status_of(error: PegboardError) -> int:
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def problem(error: PegboardError, headers: Mapping[str, str] | None = None) -> Response:
    return told(status_of(error), error.code, error.message, error.hint, headers=headers)


def told(
    status: int,
    code: str,
    message: str,
    hint: str = "",
    *,
    more: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`title` is what stays the same for a code, and `detail` is this very case."""
    said: dict[str, object] = {
        "type": "about:blank",
        "title": code.replace("_", " "),
        "status": status,
        "code": code,
        "detail": message,
    }
    said |= {"hint": hint} if hint else {}
    content = json.dumps({**said, **(more or {})}, ensure_ascii=False)
    return Response(
        content.encode("utf-8", "replace"), status, dict(headers or {}), media_type=MEDIA_TYPE
    )
