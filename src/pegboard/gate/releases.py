"""What is published of an item: its record, which is signed, and the bundle in which it travels.

A bundle is a ZIP archive that is written in one way only: the record first, then the files by
path, none compressed, none with a time or an owner. So the same content makes the same bytes on
every machine, an archive never unpacks to more than it is, and one that is not exactly what would
be written here is refused. Nothing in a bundle makes this raise anything but `Refused`.
"""

import hashlib
import io
import json
import re
import stat
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.formats.semver import parse, parse_range
from pegboard.gate.characters import first_forbidden
from pegboard.gate.limits import Limits
from pegboard.gate.namespaces import is_namespace
from pegboard.gate.refusal import Refused, shown
from pegboard.gate.side_files import canonical, normal
from pegboard.gate.versions import is_inside
from pegboard.model.content import ItemFile
from pegboard.model.items import Kind

FORMAT = 1
RECORD = "pegboard.json"
FILES = "files/"
MOST_RECORD = 200_000
MOST_CHANGELOG = 10_000
OVERHEAD = 400_000
"""Bytes that an archive may have beside its files and its record."""

KINDS = {
    "tools": Kind.TOOL,
    "scripts": Kind.TOOL,
    "directives": Kind.DIRECTIVE,
    "knowledge": Kind.KNOWLEDGE,
    "skills": Kind.SKILL,
}
_END = struct.Struct("<4s4H2LH")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_UNFIT = re.compile(r'[<>:"|?*\x00-\x1f\x7f]')
_DEEPEST = 16


class Need(NamedTuple):
    """Another item without which this one is of no use."""

    id: str
    """An id or name, as it was written."""
    range: str
    """Which versions of it will do."""


class Record(NamedTuple):
    """What a publisher says of a release beside its files."""

    id: str
    kind: str
    namespace: str
    version: str
    path: str
    """Where the item hangs in an `.ai` folder: `tools/paper/greet.py`, or a folder."""
    folder: bool
    """Whether that is a folder of files, or the only file."""
    changelog: str = ""
    requires: tuple[Need, ...] = ()

    @property
    def reference(self) -> str:
        return f"{self.namespace}/{self.id}"

    @property
    def name(self) -> str:
        return self.id.rpartition(":")[2]

    @property
    def text(self) -> str:
        """In the one way in which it is written, hashed and signed."""
        said: dict[str, object] = {"pegboard": FORMAT, **self._asdict()}
        said["requires"] = [each._asdict() for each in self.requires]
        return canonical(said).decode()


class Unpacked(NamedTuple):
    record: Record
    files: tuple[ItemFile, ...]


def record_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def split_reference(name: str) -> tuple[str, str]:
    """`team/tools:ops:build` as namespace and id; without a namespace, that is empty."""
    head, colon, rest = name.partition(":")
    namespace, _, first = head.rpartition("/")
    return (namespace, f"{first}{colon}{rest}") if colon else ("", name)


def id_of(path: str, folder: bool) -> str:
    """The id of an item that hangs at this path of an `.ai` folder."""
    layout, *parts, last = path.split("/")
    name = last if folder else last.rpartition(".")[0]
    return f"{layout}:{'/'.join(parts)}:{name}"


def pack(record: Record, files: Iterable[ItemFile]) -> bytes:
    """The bundle of a release. Raises `Refused` for what could not be unpacked everywhere."""
    listed = sorted(files, key=lambda each: each.path)
    _refuse_paths([each.path for each in listed])
    entries = [(RECORD, record.text.encode(), False)]
    entries += [(f"{FILES}{each.path}", each.content, each.executable) for each in listed]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED, allowZip64=False) as made:
        for name, content, executable in entries:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            made.writestr(info, content)
    return archive.getvalue()


def unpack(bundle: bytes, limits: Limits | None = None) -> Unpacked:
    """Record and files of a bundle. Raises `Refused` with the reason."""
    limits = limits or Limits()
    infos, archive = _opened(bundle, limits)
    with archive:
        contents = {info.filename: _content(archive, info) for info in infos}
    if RECORD not in contents:
        raise Refused("bad_bundle", f"it has no {RECORD}")
    record = read_record(contents.pop(RECORD))
    strange = [name for name in contents if not name.startswith(FILES)]
    if strange:
        raise Refused("bad_bundle", f"{shown(strange[0])} is neither {RECORD} nor in {FILES}")
    modes = {info.filename: bool(info.external_attr >> 16 & 0o111) for info in infos}
    files = tuple(
        ItemFile(
            name.removeprefix(FILES),
            content,
            hashlib.sha256(content).hexdigest(),
            executable=modes[name],
        )
        for name, content in contents.items()
    )
    if pack(record, files) != bundle:
        raise Refused("bad_bundle", "it is not written as Pegboard writes bundles; pack it again")
    return Unpacked(record, files)


def _opened(bundle: bytes, limits: Limits) -> tuple[list[zipfile.ZipInfo], zipfile.ZipFile]:
    most = limits.files_bytes + MOST_RECORD + OVERHEAD
    if len(bundle) > most:
        raise Refused("too_large", f"it has {len(bundle):,} bytes; at most {most:,} are taken")
    # How many there are is at its very end, and read before anything is made of each.
    end = bundle[-_END.size :] if len(bundle) >= _END.size else b""
    mark, *_, many, _, _, comment = _END.unpack(end) if end else (b"", 0, 0, 0, 0)
    if mark != b"PK\5\6" or comment:
        raise Refused("bad_bundle", "it is no ZIP archive, or something stands behind its end")
    if many > limits.files + 1:
        raise Refused(
            "too_many", f"it has {many - 1:,} files or more; at most {limits.files} are allowed"
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(bundle))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error) as error:
        raise Refused("bad_bundle", f"it is no ZIP archive: {error}") from error
    infos = archive.infolist()
    _refuse_entries(infos, limits)
    return infos, archive


def _refuse_entries(infos: Sequence[zipfile.ZipInfo], limits: Limits) -> None:
    if len(infos) > limits.files + 1:
        raise Refused("too_many", f"it has {len(infos):,} entries; {limits.files} are allowed")
    for info in infos:
        name, mode = shown(info.orig_filename), info.external_attr >> 16
        if stat.S_ISLNK(mode):
            raise Refused("bad_path", f"{name} is a symbolic link, which could lead anywhere")
        if info.is_dir() or stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise Refused("bad_path", f"{name} is no file")
        if info.flag_bits & 0x1:
            raise Refused("bad_bundle", f"{name} is encrypted")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            size = sum(each.file_size for each in infos)
            raise Refused(
                "compressed",
                f"{name} is compressed, and all would unpack to {size:,} bytes; bundles are never"
                " compressed, so that none is larger than it seems",
            )
        if info.orig_filename != info.filename:
            raise Refused("bad_path", f"the name {name} is not what it seems")
    _refuse_paths([info.filename for info in infos])
    size = sum(info.file_size for info in infos)
    if size > limits.files_bytes + MOST_RECORD:
        raise Refused(
            "too_large", f"its files have {size:,} bytes; at most {limits.files_bytes:,} are taken"
        )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(info)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise Refused("bad_bundle", f"{shown(info.filename)} is damaged: {error}") from error


def _refuse_paths(paths: Sequence[str]) -> None:
    """Whatever would be another file, or none, on some system."""
    seen: dict[str, str] = {}
    for path in paths:
        _refuse_path(path)
        folded = normal(path).casefold()
        if folded in seen:
            other = shown(seen[folded])
            raise Refused("bad_path", f"{shown(path)} and {other} are one file on some systems")
        seen[folded] = path
    for folded, path in seen.items():
        parts = folded.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        if taken := next((each for each in above if each in seen), None):
            raise Refused("bad_path", f"{shown(seen[taken])} is a file, and {shown(path)} in it")


def _refuse_path(path: str) -> None:
    parts = path.split("/")
    if not is_inside(path) or any(part in ("", ".", "..") for part in parts):
        raise Refused("bad_path", f"the path {shown(path)} leads out of the bundle")
    if path != normal(path):
        raise Refused("bad_path", f"the path {shown(path)} is not in Unicode form NFC")
    if len(parts) > _DEEPEST or len(path) > 512:
        raise Refused("bad_path", f"the path {shown(path)} is too long or too deep")
    if first_forbidden(path) or _UNFIT.search(path):
        raise Refused("bad_path", f"the path {shown(path)} has a character no path should have")
    for part in parts:
        if _RESERVED.fullmatch(part) or part.endswith((".", " ")) or part.startswith(" "):
            raise Refused("bad_path", f"{shown(part)} in {shown(path)} is no name everywhere")


def read_record(content: bytes) -> Record:
    """A record that is written as records are, and agrees with itself."""
    if len(content) > MOST_RECORD:
        raise Refused("bad_record", f"{RECORD} has more than {MOST_RECORD:,} bytes")
    try:
        said = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise Refused("bad_record", f"{RECORD} is no JSON") from error
    if not isinstance(said, dict) or said.get("pegboard") != FORMAT:
        raise Refused("bad_record", f"{RECORD} is not of format {FORMAT}")
    if said.keys() != {"pegboard", *Record._fields}:
        odd = min(said.keys() ^ {"pegboard", *Record._fields})
        raise Refused("bad_record", f"{RECORD} has the field {shown(odd)} too much or too little")
    record = Record(
        **{name: _text(said, name) for name in ("id", "kind", "namespace", "version", "path")},
        folder=said["folder"] is True,
        changelog=_text(said, "changelog"),
        requires=_needs(said["requires"]),
    )
    check_record(record)
    if record.text.encode() != content:
        raise Refused("bad_record", f"{RECORD} is not written as Pegboard writes it")
    return record


def check_record(record: Record) -> None:
    """Raises `Refused` unless it can be the record of a release."""
    number = parse(record.version)
    if number is None or str(number) != record.version:
        raise Refused(
            "bad_version",
            f"version {shown(record.version)} cannot be published; it must be such as 1.2.3 or"
            " 1.2.3-rc.1",
        )
    if not is_namespace(record.namespace):
        raise Refused("bad_namespace", f"{shown(record.namespace)} is no namespace")
    _refuse_path(record.path)
    layout = record.path.partition("/")[0]
    if layout not in KINDS or "/" not in record.path:
        raise Refused(
            "bad_path", f"{shown(record.path)} lies in none of {', '.join(sorted(KINDS))}"
        )
    if record.kind != KINDS[layout]:
        raise Refused("bad_record", f"what lies in {layout} is no {shown(record.kind)}")
    by_path = id_of(record.path, record.folder)
    if layout == "knowledge":  # which may give itself another name than its file
        by_path = f"{by_path.rpartition(':')[0]}:{record.id.rpartition(':')[2]}"
    if normal(record.id) != normal(by_path):
        raise Refused(
            "bad_record", f"its id is {shown(record.id)}, and its path {shown(record.path)}"
        )
    if any(part.startswith((".", "_")) or ":" in part for part in record.path.split("/")):
        raise Refused("bad_path", f"{shown(record.path)} has a name in it that no folder offers")
    _check_texts(record)


def _check_texts(record: Record) -> None:
    if len(record.changelog) > MOST_CHANGELOG:
        raise Refused("too_large", f"its changelog has more than {MOST_CHANGELOG:,} characters")
    texts = (record.changelog, *(need.id for need in record.requires))
    if bad := next(filter(None, map(first_forbidden, texts)), ""):
        raise Refused("hidden_characters", f"its record has {bad} in it; remove that")
    for need in record.requires:
        if split_reference(need.id)[0] or need.id.count(":") != 2:
            raise Refused(
                "bad_range",
                f"it needs {shown(need.id)} in certain versions; give the whole id of that item,"
                " such as tools:paper:print",
            )
        if parse_range(need.range) is None:
            raise Refused(
                "bad_range", f"it needs {shown(need.id)} in {shown(need.range)}, which is no range"
            )


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said[name]
    if not isinstance(found, str):
        raise Refused("bad_record", f"{name} in {RECORD} is no text")
    return found


def _needs(said: object) -> tuple[Need, ...]:
    if not isinstance(said, list) or len(said) > Limits().links:
        raise Refused("bad_record", f"requires in {RECORD} is no list, or too long")
    found = []
    for each in said:
        match each:
            case {"id": str(name), "range": str(range_)} if len(each) == 2:
                found.append(Need(name, range_))
            case _:
                raise Refused("bad_record", f"requires in {RECORD} has {shown(each)} in it")
    return tuple(found)
