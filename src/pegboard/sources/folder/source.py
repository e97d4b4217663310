"""A project's `.ai` folder, or a person's own: tools, scripts, directives, knowledge, skills.

Files are read and parsed, never imported or run. docs/how-to/folder.md says what a folder may look
like.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pegboard.errors import SourceError
from pegboard.model.items import Finding, Form, Kind, LeftOut, Rejection, Unchanged
from pegboard.sources.folder.bundle import (
    PartUnreadable,
    TooLarge,
    bundle_hash,
    leads_back,
    listed,
    make_file,
    read_bundle,
)
from pegboard.sources.folder.layouts import (
    LAYOUTS,
    README,
    SCRIPTS,
    SIDE,
    TOOLS,
    Layout,
    Place,
    Read,
    candidate_of,
)
from pegboard.sources.tree import Tree, Wanted, cause, printable
from pegboard.sources.unfit import Unfit

DEEPEST = 8
"""Folders in one another that can be categories."""
MOST_IN_ALL = 200_000
"""Names that one scan looks at."""


class FolderSource:
    def __init__(
        self, name: str, root: Path, *, namespace: str, max_file_bytes: int = 1 << 20
    ) -> None:
        self._name = name
        self._root = root
        self._namespace = namespace
        self._limit = max_file_bytes

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        present = self._layouts()
        wanted = Wanted([path.removesuffix(SIDE) for path in under])
        walk = _Walk(self._name, self._root, self._limit, self._namespace, known, wanted)
        return (
            finding
            for layout in wanted.among("", present)
            for finding in walk.findings(Place(layout, linked=(self._root / layout).is_symlink()))
        )

    def _layouts(self) -> list[str]:
        root, names = printable(str(self._root)), ", ".join(LAYOUTS)
        try:
            with os.scandir(self._root) as entries:
                present = sorted({entry.name for entry in entries} & LAYOUTS.keys())
            usable = any((self._root / layout).is_dir() for layout in present)
        except OSError as error:
            raise SourceError(
                f"the folder {root} cannot be read: {cause(error)}",
                hint=f"give an existing folder that holds any of {names}",
            ) from error
        if not usable:
            raise SourceError(
                f"{root} holds none of {names}",
                hint=f"give the folder that {self._root.name}/ stands in"
                if self._root.name in LAYOUTS
                else "put tools into tools/<category>/<tool>.py, or give another folder",
            )
        return present


class _Walk(Tree):
    """One scan."""

    def __init__(
        self,
        name: str,
        root: Path,
        max_file_bytes: int,
        namespace: str,
        known: Mapping[str, str],
        wanted: Wanted,
    ) -> None:
        super().__init__(name, root, max_file_bytes)
        self._namespace = namespace
        self._known = known
        self._wanted = wanted
        self._left = MOST_IN_ALL

    def findings(self, place: Place, beside: frozenset[str] = frozenset()) -> Iterator[Finding]:
        """A folder is an item, a category of items, or nothing that can be understood."""
        layout = LAYOUTS[place.layout]
        if problem := self._folder_problem(place.origin):
            yield problem
            return
        names = self._listed(place)
        if not isinstance(names, frozenset):
            yield names
        elif place.parts and layout.document in names:
            yield self._folder_item(place, beside)
        elif place.parts and (problem := self._not_understood(place, names)):
            yield problem
        else:
            yield from self._category(place, names)

    def _listed(self, place: Place) -> frozenset[str] | Rejection:
        try:
            names = listed(self._root / place.origin)
        except OSError as error:
            return self._unreadable(place.origin, error)
        except Unfit as unfit:
            return self._rejected(place.origin, "", unfit.code, unfit.reason)
        self._left -= len(names)
        if self._left < 0:
            raise SourceError(
                f"{printable(str(self._root))} holds more than {MOST_IN_ALL:,} entries",
                hint="divide it into several sources",
            )
        return frozenset(names)

    def _not_understood(self, place: Place, names: frozenset[str]) -> LeftOut | Rejection | None:
        """A folder whose files need a document to be an item, and that has none."""
        layout = LAYOUTS[place.layout]
        if not layout.missing:
            return None
        if not names:
            return LeftOut(place.origin, "the folder is empty")
        loose = [name for name in sorted(names) if self._is_loose(layout, place, name)]
        if not loose:
            return None
        document = layout.document
        reason = f"the folder holds {printable(loose[0])} and has no {document}; "
        near = [name for name in loose if name.lower() in (document.lower(), "tool.yml")]
        ways = [f"write one, or move what is no {layout.kind} by itself elsewhere"]
        ways = [f"rename {each} to {document}" for each in near] or ways
        return self._rejected(place.origin, "", layout.missing, reason + ways[0])

    def _is_loose(self, layout: Layout, place: Place, name: str) -> bool:
        if name.startswith(("_", ".")) or layout.passed_over.fullmatch(name):
            return False
        plain = name.removesuffix(SIDE)
        if layout.single and plain.endswith(layout.single):
            return False
        return not (self._root / place.origin / name).is_dir()

    def _category(self, place: Place, names: frozenset[str]) -> Iterator[Finding]:
        for name in sorted(self._wanted.among(place.origin, names)):
            problem = self._name_problem(place.origin, name)
            if problem is None and name.endswith(SIDE) and name.removesuffix(SIDE) in names:
                continue
            if problem is not None:
                yield problem
                continue
            origin = f"{place.origin}/{name}"
            found = self._stat(origin, self._root / origin)
            if not isinstance(found, os.stat_result):
                yield found
            elif not stat.S_ISDIR(found.st_mode):
                yield self._file(place, name, found)
            elif problem := self._no_way_in(place, name):
                yield problem
            else:
                is_link = (self._root / origin).is_symlink()
                inside = Place(place.layout, (*place.parts, name), place.linked or is_link)
                yield from self.findings(inside, names)

    def _no_way_in(self, place: Place, name: str) -> LeftOut | Rejection | None:
        origin = f"{place.origin}/{name}"
        if len(place.parts) >= DEEPEST:
            reason = f"the folder lies deeper than {DEEPEST} categories; move it up"
            return self._rejected(origin, "", "too_deep", reason)
        path = self._root / origin
        if not path.is_symlink():
            return None
        if place.linked:
            return LeftOut(origin, "links to folders are not followed in a linked folder")
        if leads_back(path):
            reason = "the link leads back to a folder that it stands in; remove it"
            return self._rejected(origin, "", "loop", reason)
        return None

    def _file(self, place: Place, name: str, found: os.stat_result) -> Finding:
        layout = LAYOUTS[place.layout]
        origin = f"{place.origin}/{name}"
        if layout.single == ".md" and README.fullmatch(name):
            return LeftOut(origin, "a README is for people")
        if not layout.single or not name.endswith(layout.single):
            return LeftOut(origin, f"no {layout.kind} by itself")
        if before := self._goes_before(place, name.removesuffix(layout.single)):
            return self._rejected(origin, "", "shadowed", before)
        try:
            content = self._content(self._root / origin, found)
            if content is None:
                digest = f"stat:{found.st_size}:{found.st_mtime_ns}"
                reason = f"the file is larger than {self._limit} bytes; make it smaller"
                raise TooLarge(reason, digest)
            signature = self._signature(origin)
        except OSError as error:
            return self._unreadable(origin, error)
        except Unfit as unfit:
            return self._unfit(origin, unfit)
        file = make_file(name, content, executable=bool(found.st_mode & 0o111))
        form = Form.FIELDS if layout.kind is Kind.TOOL else layout.form
        return self._finding(
            Read(origin, place, name.removesuffix(layout.single), form, (file,), name, signature)
        )

    def _folder_item(self, place: Place, beside: frozenset[str]) -> Finding:
        layout, origin, name = LAYOUTS[place.layout], place.origin, place.parts[-1]
        if layout.single and f"{name}{layout.single}" in beside:
            reason = f"{name}{layout.single} beside it has the same name; rename one of them"
            return self._rejected(origin, "", "duplicate_id", reason)
        above = place._replace(parts=place.parts[:-1])
        if before := self._goes_before(above, name):
            return self._rejected(origin, "", "shadowed", before)
        try:
            files = read_bundle(self, self._root / origin, layout.document, self._limit)
            signature = self._signature(f"{origin}/{layout.document}")
        except PartUnreadable as part:
            return self._unreadable(origin, part.error, part.path)
        except OSError as error:
            return self._unreadable(origin, error, f"{layout.document}{SIDE}")
        except Unfit as unfit:
            return self._unfit(origin, unfit)
        return self._finding(
            Read(origin, above, name, layout.form, files, layout.document, signature)
        )

    def _goes_before(self, above: Place, name: str) -> str:
        """Why a script is none: its namesake in `tools/`, which everybody means by that name."""
        if above.layout != SCRIPTS:
            return ""
        there = "/".join((TOOLS, *above.parts, name))
        for each in (f"{there}{LAYOUTS[TOOLS].single}", f"{there}/{LAYOUTS[TOOLS].document}"):
            if os.path.lexists(self._root / each):
                return f"{each} has the same name and goes before it; rename or remove one of them"
        return ""

    def _signature(self, origin: str) -> bytes:
        """The side file of a document, if it has one."""
        path = self._root / f"{origin}{SIDE}"
        if not os.path.lexists(path):
            return b""
        read = self._content(path, self.look(path))
        if read is None:
            raise Unfit("too_large", f"{path.name} is larger than {self._limit} bytes; sign again")
        return read

    def _finding(self, read: Read) -> Finding:
        digest = bundle_hash(read.files, read.signature)
        if self._known.get(read.origin) == digest:
            return Unchanged(read.origin)
        try:
            return candidate_of(read, self._name, self._namespace, digest)
        except Unfit as unfit:
            return self._rejected(read.origin, digest, unfit.code, unfit.reason)

    def _unfit(self, origin: str, unfit: Unfit) -> Finding:
        digest = unfit.digest if isinstance(unfit, TooLarge) else ""
        if digest and self._known.get(origin) == digest:
            return Unchanged(origin)
        return self._rejected(origin, digest, unfit.code, unfit.reason)


def reach(root: Path, under: Sequence[str]) -> list[str]:
    """The paths to look at when something at these has changed.

    What a file means may depend on those beside it, what lies in the folder of an item belongs to
    the item, and a tool goes before a script of the same name.
    """
    reached = {each for path in under for each in _reach(root, path)}
    return sorted(reached.union(each for path in reached for each in _namesakes(path)))


def _namesakes(path: str) -> tuple[str, ...]:
    """The scripts that a tool at this path goes before, or no longer does."""
    layout, _, rest = path.partition("/")
    if layout != TOOLS:
        return ()
    script = f"{SCRIPTS}/{rest.removesuffix(LAYOUTS[TOOLS].single)}"
    return (script, f"{script}{LAYOUTS[TOOLS].single}") if rest else (SCRIPTS,)


def _reach(root: Path, path: str) -> tuple[str, ...]:
    parts = [part for part in path.removesuffix(SIDE).split("/") if part]
    path, layout = "/".join(parts), LAYOUTS.get(parts[0] if parts else "")
    if layout is None or not layout.document or len(parts) < 2:
        return (path,)
    for depth in range(2, len(parts)):
        folder = "/".join(parts[:depth])
        if os.path.lexists(root / folder / layout.document):
            return (folder,)
    if len(parts) == 2:
        return path, path.removesuffix(layout.single)
    return (path,) if (root / path).is_dir() else ("/".join(parts[:-1]),)
