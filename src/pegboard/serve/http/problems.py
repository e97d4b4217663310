"""Errors as problem details (RFC 9457), with the code that every face has for them."""

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
    ProviderUnavailable,
    SourceError,
    TookTooLong,
    TooLarge,
    TooMany,
    UsageError,
)
from pegboard.serve.http.replies import as_json
from pegboard.serve.outward import outward

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
    ProviderUnavailable: 503,
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

OTHERS = {
    "malformed": 400,
    "denied": 403,
    "wrong_origin": 403,
    "no_such_path": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "alike": 409,
    "approval_needed": 409,
    "unavailable": 409,
    "version_exists": 409,
    "uri_too_long": 414,
    "unsupported_media_type": 415,
    "wrong_host": 421,
    "refused": 422,
    "trial_failed": 422,
    "headers_too_large": 431,
    "unexpected": 500,
    "busy": 503,
    "stopping": 503,
}
"""Codes of answers that are no error anywhere else."""


class Declined(Exception):
    """A request that is not done, for a reason that only this face has."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        more: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.more = more
        self.headers = headers

    def response(self) -> Response:
        return told(
            OTHERS[self.code],
            self.code,
            self.message,
            self.hint,
            more=self.more,
            headers=self.headers,
        )


def status_of(error: PegboardError) -> int:
    return next(STATUS[cls] for cls in type(error).__mro__ if cls in STATUS)


def problem(error: PegboardError, headers: Mapping[str, str] | None = None) -> Response:
    """Whoever is to sign in is told how, as the protocol demands."""
    how = {"WWW-Authenticate": "Bearer"} if isinstance(error, NotSignedIn) else {}
    headers = {**how, **(headers or {})}
    said = outward(error)
    return told(status_of(error), error.code, said.message, said.hint, headers=headers)


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
    return Response(
        as_json({**said, **(more or {})}), status, dict(headers or {}), media_type=MEDIA_TYPE
    )
