"""`pegboard.lock`: what was pulled into a project, exactly. It belongs into version control.

There are hashes in it and no places: whichever registry is asked must hand out the same content.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pegboard.board.trust.private_files import replace
from pegboard.errors import ConfigError
from pegboard.formats.semver import parse_range
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import KINDS, Record, check_record, split_reference
from pegboard.model.content import ItemFile

NAME = "pegboard.lock"
FORMAT = 1
MOST_BYTES = 50_000_000
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RESTORE = "restore it from version control, or remove it and pull everything again"
_TEXTS = ("version", "range", "bundle", "signer", "path")


class Locked(NamedTuple):
    """An item that was pulled, as its registry had it."""

    version: str
    range: str
    """What was asked for; empty if only others need it."""
    bundle: str
    """The hash of its bundle."""
    signer: str
    """The id of the key that it was signed with."""
    path: str
    """Where it lies under `.ai`."""
    folder: bool
    files: Mapping[str, str] = MappingProxyType({})
    """The hash of each; `+x` stands behind that of one that can be executed."""
    requires: Mapping[str, str] = MappingProxyType({})
    """What it needs, by reference, in which versions."""
    merged: bool = False
    """Whether what lies there is this together with changes of the project's own."""


def sums(files: Mapping[str, ItemFile]) -> dict[str, str]:
    return {
        path: f"{file.sha256}{'+x' if file.executable else ''}"
        for path, file in sorted(files.items())
    }


def read_lock(path: Path) -> dict[str, Locked]:
    """By `namespace/id`; nothing if there is no such file. One that is damaged is an error."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    try:
        said = json.loads(content.decode())
        if not isinstance(said, dict) or said.get("pegboard") != FORMAT:
            raise ValueError(f"it is not of format {FORMAT}")
        return {str(name): _locked(name, each) for name, each in said["items"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Refused) as error:
        raise ConfigError(f"{path} is damaged: {error}", _RESTORE) from error


def _locked(name: str, said: Any) -> Locked:  # noqa: ANN401 (whatever a file has)
    texts = {key: said[key] for key in _TEXTS}
    files, requires = said["files"], said["requires"]
    listed = (*texts.values(), *files.keys(), *files.values(), *requires.keys(), *requires.values())
    if not all(isinstance(each, str) for each in listed):
        raise ValueError(f"{name} has something in it that is no text")
    found = Locked(
        **texts,
        folder=said["folder"] is True,
        files=dict(files),
        requires=dict(requires),
        merged=said.get("merged") is True,
    )
    if not _SHA256.fullmatch(found.bundle):
        raise ValueError(f"{name} has no hash")
    if found.range and parse_range(found.range) is None:
        raise ValueError(f"{name} was asked for in {found.range!r}, which is no range")
    namespace, item_id = split_reference(name)
    kind = KINDS.get(found.path.partition("/")[0], "")
    check_record(Record(item_id, kind, namespace, found.version, found.path, found.folder))
    return found


def write_lock(path: Path, items: Mapping[str, Locked]) -> None:
    """As a whole, in one way: the same items make the same file."""
    said = {name: _said(each) for name, each in sorted(items.items())}
    text = json.dumps({"pegboard": FORMAT, "items": said}, indent=2, ensure_ascii=False)
    try:
        replace(path, f"{text}\n".encode(), 0o666)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error


def _said(each: Locked) -> dict[str, object]:
    files, requires = dict(sorted(each.files.items())), dict(sorted(each.requires.items()))
    said = each._asdict() | {"files": files, "requires": requires}
    return said if each.merged else {key: value for key, value in said.items() if key != "merged"}
