"""Values as JSON, in the same words as the commands' `--json`."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from pegboard.plain import plain


def reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Response(
        text.encode("utf-8", "replace"),
        status,
        dict(headers or {}),
        media_type="application/json",
    )
