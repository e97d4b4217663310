"""The source that a record stands for, as far as it is in files."""

from collections.abc import Callable
from pathlib import Path

from pegboard.errors import UsageError
from pegboard.model import SourceRecord
from pegboard.ports import Source
from pegboard.sources.jsonl import JsonlSource
from pegboard.sources.pytools import PytoolsSource


def folder_source(record: SourceRecord, max_file_bytes: int) -> Source:
    name, place, namespace = record.name, Path(record.location), record.namespace
    make: dict[str, Callable[[], Source]] = {
        "pytools": lambda: PytoolsSource(
            name, place, namespace=namespace, max_file_bytes=max_file_bytes
        ),
        "jsonl": lambda: JsonlSource(name, place, namespace=namespace),
    }
    if record.kind not in make:
        raise UsageError(f"source {name!r} is of the unknown kind {record.kind!r}")
    return make[record.kind]()
