"""ETags: what a client saw, so that it changes nothing that it has not seen."""

import re

from starlette.requests import Request

from pegboard.errors import ChangedMeanwhile, UsageError

_TAGS = re.compile(r'\s*(?:(W/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,\s*|$))')
ANY = "*"


def quoted(etag: str) -> dict[str, str]:
    """The header of what an item is now. It is asked about each time, and kept by nobody else."""
    return {"ETag": f'"{etag}"', "Cache-Control": "private, no-cache"}


def not_modified(request: Request, etag: str) -> bool:
    """Whether whoever asks has this already."""
    said = request.headers.getlist("if-none-match")
    if not said:
        return False
    try:
        found = _listed(",".join(said), "If-None-Match")
    except UsageError:
        return False  # it only spares an answer
    return found == [ANY] or etag in [each.removeprefix("W/") for each in found]


def expected(request: Request, etag: str) -> str | None:
    """The ETag that a change is meant for; None if it is meant for whatever there is.

    `etag` is what the item has now. Raises `ChangedMeanwhile` if that is not among those said.
    """
    said = request.headers.getlist("if-match")
    if not said or (found := _listed(",".join(said), "If-Match")) == [ANY]:
        return None
    if etag not in found:
        raise ChangedMeanwhile(
            "the item is no longer what the change was meant for",
            f'get it again, and decide anew; its ETag is "{etag}"',
        )
    return etag


def _listed(said: str, header: str) -> list[str]:
    """Those in a list, `W/` before those that are weak."""
    if said.strip() == ANY:
        return [ANY]
    found, at = [], 0
    while at < len(said):
        match = _TAGS.match(said, at)
        if match is None:
            raise UsageError(f"{header} is {said[:60]!r}", 'write it as it was given: "..."')
        found.append((match[1] or "") + match[2])
        at = match.end()
    return found
