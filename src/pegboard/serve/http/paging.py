"""Pages of a list: a mark says where the next one begins, whatever comes or goes meanwhile."""

import base64
import binascii
import json
from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field
from starlette.requests import Request

from pegboard.errors import UsageError
from pegboard.model.items import Entry
from pegboard.serve.http.asking import pairs_of
from pegboard.serve.http.table import Whole

LISTED = 100
MOST_LISTED = 1_000
LONGEST_MARK = 4_000

Limit = Annotated[Whole, Field(ge=1, le=MOST_LISTED, description="How many at most.")]
After = Annotated[
    str,
    Field(
        max_length=LONGEST_MARK,
        description="To go on: what the answer before gave as `next`.",
    ),
]
Place = tuple[str, str]
"""The id and namespace that a page begins after."""


def mark_of(entry: Entry) -> str:
    said = json.dumps([entry.item.id, entry.item.namespace], ensure_ascii=False)
    return base64.urlsafe_b64encode(said.encode()).decode().rstrip("=")


def place_of(mark: str) -> Place:
    """Raises `UsageError` for what no page has given as `next`."""
    if not mark:
        return "", ""
    try:
        text = base64.b64decode(f"{mark}{'=' * (-len(mark) % 4)}", altchars=b"-_", validate=True)
        found = json.loads(text.decode())
        json.dumps(found, ensure_ascii=False).encode()  # half a character is no place either
    except (binascii.Error, ValueError, RecursionError):
        found = None
    match found:
        case [str(item_id), str(namespace)]:
            return item_id, namespace
    raise UsageError(
        f"after is {mark[:60]!r}, which no answer has given as next", "begin without after"
    )


def link_to_next(request: Request, mark: str | None) -> dict[str, str]:
    """The header that leads on, as everybody's clients read it."""
    if mark is None:
        return {}
    pairs = [pair for pair in pairs_of(request.scope["query_string"]) if pair[0] != "after"]
    return {"Link": f'<?{urlencode([*pairs, ("after", mark)])}>; rel="next"'}
