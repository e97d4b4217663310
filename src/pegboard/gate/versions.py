"""The version that a candidate is: its number, its manifest and its files."""

import hashlib
import json
from collections.abc import Sequence

from pegboard.formats import semver
from pegboard.gate.fields import Fields
from pegboard.gate.refusal import Refused, shown
from pegboard.model.content import ItemFile, Version

UNNUMBERED = "0.0.0+"
"""How the number of a version begins that is named after its content."""


def is_inside(path: str) -> bool:
    """Whether a path stays in the folder that it is taken from, on every system."""
    parts = path.split("/")
    drive = len(parts[0]) > 1 and parts[0][1] == ":"
    return bool(path) and not (drive or ".." in parts or parts[0] == "" or set(path) & {"\\", "\0"})


def read_version(fields: Fields, files: tuple[ItemFile, ...]) -> Version | None:
    """A source that keeps no versions gets one named after its content."""
    _check_files(fields, files)
    manifest = fields.json("manifest")
    if not files and not manifest:
        return None
    digest = hashlib.sha256(json.dumps(dict(manifest), sort_keys=True).encode())
    for file in sorted(files, key=lambda each: each.path):
        digest.update(f"\0{file.path}\0{file.sha256}".encode("utf-8", "replace"))
        if file.executable:
            digest.update(b"x")
    content_hash = digest.hexdigest()
    number = fields.text("version", 100) or f"{UNNUMBERED}{content_hash[:12]}"
    if semver.parse(number) is None:
        raise Refused("bad_version", f"version {shown(number)} is not semantic: 1.2.3")
    return Version(
        version=number,
        content_hash=content_hash,
        manifest=manifest,
        manifest_text=fields.text("manifest_text", fields.limits.body) or None,
        changelog=fields.text("changelog", fields.limits.description),
        files=files,
    )


def _check_files(fields: Fields, files: Sequence[ItemFile]) -> None:
    limits = fields.limits
    if len(files) > limits.files:
        reason = f"it has {len(files):,} files; at most {limits.files} are allowed"
        raise Refused("too_many", reason)
    size = sum(len(file.content) for file in files)
    if size > limits.files_bytes:
        raise Refused(
            "too_large",
            f"its files have {size:,} bytes together; at most {limits.files_bytes:,} are allowed",
        )
    for file in files:
        if not is_inside(fields.checked("file path", file.path, limits.id)):
            raise Refused("bad_path", f"file path {shown(file.path)} leaves the item's folder")
    if len({file.path for file in files}) < len(files):
        raise Refused("bad_path", "two files have the same path; give each its own")
