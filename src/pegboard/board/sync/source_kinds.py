"""The source that a record stands for, as far as it is in files or documents.

Each kind is loaded when a record of it is read: a search needs none of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pegboard.errors import SourceError, UsageError
from pegboard.model.items import SourceRecord
from pegboard.ports.stages import Source

AI = ".ai"
PYTOOLS = "pytools"
FOLDER = "folder"
USER_FOLDER = "user_folder"
"""A person's own `.ai` folder, whose items give way to those of every other source."""
IN_FOLDERS = (PYTOOLS, FOLDER, USER_FOLDER)
DOCUMENTS = ("openapi", "lightapi")
"""Kinds whose location is one file, or a URL."""


def folder_source(
    record: SourceRecord, max_file_bytes: int, environ: Mapping[str, str] | None = None
) -> Source:
    """`environ` is where references are looked up, such as the token that a URL asks for."""
    name, place, namespace = record.name, Path(record.location), record.namespace
    match record.kind:
        case "pytools":
            from pegboard.sources.pytools import PytoolsSource

            return PytoolsSource(name, place, namespace=namespace, max_file_bytes=max_file_bytes)
        case "folder" | "user_folder":
            from pegboard.sources.folder.source import FolderSource

            return FolderSource(name, place, namespace=namespace, max_file_bytes=max_file_bytes)
        case "jsonl":
            from pegboard.sources.jsonl import JsonlSource

            return JsonlSource(name, place, namespace=namespace)
        case "openapi":
            from pegboard.sources.openapi.source import OpenApiSource

            return OpenApiSource(name, record.location, namespace=namespace, environ=environ)
        case "lightapi":
            from pegboard.sources.lightapi.source import LightApiSource

            return LightApiSource(name, record.location, namespace=namespace, environ=environ)
    raise UsageError(f"source {name!r} is of the unknown kind {record.kind!r}")


def kind_and_place(folder: Path) -> tuple[str, Path]:
    """What a folder that somebody names is, and where exactly its items are.

    `mcptools/` and `gentools/` cannot be mistaken, and so they decide before anything beside them.
    """
    from pegboard.sources.folder.layouts import LAYOUTS
    from pegboard.sources.pytools import GENERATED, WRITTEN

    tools = (WRITTEN, GENERATED)
    if folder.name == AI:
        return FOLDER, folder
    if folder.name in tools or any((folder / each).is_dir() for each in tools):
        return PYTOOLS, folder
    if (folder / AI).is_dir():
        return FOLDER, (folder / AI).resolve()
    if folder.name in LAYOUTS or any((folder / each).is_dir() for each in LAYOUTS):
        return FOLDER, folder
    problem = "holds nothing to add" if folder.is_dir() else "is no folder"
    raise SourceError(
        f"{folder} {problem}",
        f"give a folder that holds {', '.join(f'{each}/' for each in (AI, *tools, *LAYOUTS))}",
    )


def left_beside(record: SourceRecord) -> str:
    """What else is in a folder of Python tools that is not read with them, and what to do."""
    from pegboard.sources.folder.layouts import LAYOUTS

    folder = Path(record.location)
    if record.kind != PYTOOLS:
        return ""
    if (folder / AI).is_dir():
        return f"{AI}/ in it is a source of its own: pegboard add folder {folder / AI}"
    beside = [f"{each}/" for each in LAYOUTS if (folder / each).is_dir()]
    if not beside:
        return ""
    return f"{', '.join(beside)} beside the tools are not read; move them into {AI}/ and add that"


def reach(record: SourceRecord, under: Sequence[str]) -> Sequence[str]:
    """The paths that have to be looked at when something at these has changed."""
    if not under or record.kind not in (FOLDER, USER_FOLDER):
        return under
    from pegboard.sources.folder.source import reach

    return reach(Path(record.location), under)


def yielding(records: Sequence[SourceRecord]) -> frozenset[str]:
    """Names of the sources whose items give way to those of others."""
    return frozenset(each.name for each in records if each.kind == USER_FOLDER)
