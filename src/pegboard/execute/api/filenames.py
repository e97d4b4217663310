"""A name for a file that a service answers with, which is safe to write anywhere."""

import mimetypes
import re
from email.message import Message
from urllib.parse import unquote

MAX_NAME = 120
_MAX_HEADER = 2_000
_BAD = re.compile(r'[\x00-\x1f\x7f<>:"|?*]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def name_of(disposition: str, path: str, media_type: str) -> str:
    """From the header of the answer, or else from the path that was asked for."""
    said = Message()
    said["Content-Disposition"] = "".join(disposition.splitlines())[:_MAX_HEADER]
    name = _safe(said.get_filename() or "") or _safe(unquote(path))
    if not name:
        name = "answer"
    if "." not in name:
        name += mimetypes.guess_extension(media_type) or ""
    return name


def _safe(name: str) -> str:
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    printable = "".join(c for c in _BAD.sub("", last) if c.isprintable())
    kept = printable.strip(" .")
    if len(kept) > MAX_NAME:
        stem, dot, ending = kept.rpartition(".")
        ending = dot + ending if len(ending) <= 10 and stem else ""
        kept = kept[: MAX_NAME - len(ending)].rstrip(" .") + ending
    return f"_{kept}" if _RESERVED.fullmatch(kept) else kept
