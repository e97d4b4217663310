"""Style, script and pictures of the page, kept in memory."""

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "static"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_EVER = "public, max-age=31536000, immutable"
"""For an address that has the file's hash in it."""


class StaticFile(NamedTuple):
    content: bytes
    media_type: str
    mark: str
    """Of its content."""


@cache
def static_files() -> dict[str, StaticFile]:
    return {each.name: _read(each) for each in FOLDER.iterdir() if each.suffix in MEDIA_TYPES}


def _read(path: Path) -> StaticFile:
    content = path.read_bytes()
    mark = hashlib.sha256(content).hexdigest()[:16]
    return StaticFile(content, MEDIA_TYPES[path.suffix], mark)


def static_url(name: str) -> str:
    return f"/ui/static/{name}?v={static_files()[name].mark}"


async def static_file(request: Request) -> Response:
    found = static_files().get(request.path_params["name"])
    if found is None:
        return Response("there is no such file", 404, media_type="text/plain")
    fixed = request.query_params.get("v") == found.mark
    headers = {
        "ETag": f'"{found.mark}"',
        "Cache-Control": FOR_EVER if fixed else "no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if headers["ETag"] in known:
        return Response(None, 304, headers)
    return Response(found.content, 200, headers, media_type=found.media_type)
