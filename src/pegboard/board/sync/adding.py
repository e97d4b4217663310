"""Which sources a board has: adding them, refusing what clashes, following the settings files."""

import re
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pegboard.board.sync.source_kinds import AI, USER_FOLDER, kind_and_place, yielding
from pegboard.errors import ConfigError, UsageError
from pegboard.gate.admission import NAMESPACE_RULE, is_namespace
from pegboard.model.calls import ServerConfig
from pegboard.model.items import CREATED, PUBLISHED, SourceRecord
from pegboard.ports.stages import Source
from pegboard.ports.store import Store
from pegboard.sources.documents.location import refuse_secrets
from pegboard.sources.mcp.config import location

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
_SUFFIXES = re.compile(r"(\.(json|ya?ml|gz|openapi|lightapi))+$", re.IGNORECASE)
_EVERY_NAME = frozenset({"api", "api-docs", "index", "lightapi", "openapi", "spec", "swagger"})
"""Files that are called so whatever service they describe."""


def folder_record(path: Path, name: str | None, namespace: str) -> SourceRecord:
    """What a folder is added as; what is inside decides."""
    kind, folder = kind_and_place(path.expanduser().resolve())
    if folder == user_folder():
        kind, name = USER_FOLDER, name or "user"
    name = name or re.sub(r"[^a-z0-9_.-]+", "-", folder.name.lower()).strip("-._") or "folder"
    _refuse_names(name, namespace)
    if not str(folder).isprintable():
        raise UsageError(f"{str(folder)!a} has characters that cannot be written down")
    return SourceRecord(name=name, kind=kind, location=str(folder), namespace=namespace)


def document_record(kind: str, location: str, name: str | None, namespace: str) -> SourceRecord:
    """A document is called after its host or file, and `api/openapi.json` after the folder."""
    try:
        parts = urlsplit(location)
    except ValueError as error:
        raise UsageError(f"{location!r} is neither a file nor a URL: {error}") from error
    if parts.scheme in ("http", "https"):
        refuse_secrets(location)
        place, called = location, parts.hostname or ""
    else:
        path = Path(unquote(parts.path) if parts.scheme == "file" else location)
        path = path.expanduser().resolve()
        place, called = str(path), _SUFFIXES.sub("", path.name)
        called = path.parent.name if called.lower() in _EVERY_NAME else called
    name = name or re.sub(r"[^a-z0-9_.-]+", "-", called.lower()).strip("-._")[:63] or kind
    _refuse_names(name, namespace)
    if not place.isprintable():
        raise UsageError(f"{place!a} has characters that cannot be written down")
    return SourceRecord(name=name, kind=kind, location=place, namespace=namespace)


def user_folder() -> Path | None:
    """The `.ai` folder that is a person's own, whether it is there or not."""
    try:
        return (Path.home() / AI).resolve()
    except RuntimeError:  # nobody knows where this user is at home
        return None


def _refuse_names(name: str, namespace: str) -> None:
    if not is_namespace(namespace):
        raise UsageError(f"{namespace!r} is no namespace", NAMESPACE_RULE)
    if name in (CREATED, PUBLISHED):
        what = "tools that were made here" if name == CREATED else "what is published here"
        raise UsageError(f"{name!r} is kept for {what}", "give another name")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a source", "it takes a-z, 0-9, '-', '_' and '.'")


def add_source(store: Store, record: SourceRecord, source: Source) -> SourceRecord:
    next(source.scan({}), None)  # says so at once if there is no such folder or document
    _refuse_clash(store, record)
    store.ledger.add_source(record)
    return record


def _refuse_clash(store: Store, record: SourceRecord) -> None:
    for other in store.ledger.sources():
        if other.name == record.name and other.location != record.location:
            raise UsageError(
                f"source {record.name!r} is already {other.location}",
                "give this one another name with --name",
            )
        same = (other.name, other.namespace) == (record.name, record.namespace)
        near = other.name == record.name or other.namespace == record.namespace
        if other.location == record.location and near and not same:
            raise UsageError(
                f"{record.location} is already here, as source {other.name!r} "
                f"in namespace {other.namespace!r}",
                f"to change that, first: pegboard remove {other.name}",
            )


def add_servers(store: Store, configs: Sequence[ServerConfig]) -> None:
    """Refused as a whole, or written. A server that is there already is changed to what is given.

    The tools of one that is switched off are inactive until it is switched on.
    """
    sources = {record.name: record for record in store.ledger.sources()}
    for config in configs:
        _refuse_names(config.name, config.namespace)
        other = sources.get(config.name)
        if other is not None and other.kind != "mcp":
            raise UsageError(
                f"{config.name!r} is already a source of kind {other.kind}: {other.location}",
                "give the server another name",
            )
        if other is not None and other.namespace != config.namespace:
            raise UsageError(
                f"{config.name!r} is already here, in namespace {other.namespace!r}",
                f"to change that, first: pegboard remove {config.name}",
            )
    for config in configs:
        store.ledger.put_server(config, location(config))
        if not config.enabled:
            store.items.retire(config.name, [], time.time(), 0.0)


def follow_files(
    store: Store,
    declared: Sequence[ServerConfig],
    files: Sequence[str],
    allowed: Callable[[ServerConfig], bool],
) -> list[str]:
    """Servers that settings files declare come and go with their lines there.

    One that is gone is switched off, and its tools with it; both come back with the line. A file
    does not change what was added in another way, and what nobody has allowed is left as it was.
    Returns notices.
    """
    known = {each.config.name: each.config for each in store.ledger.servers()}
    wanted = {config.name: config for config in declared}
    if len(wanted) < len(declared):
        names = sorted(config.name for config in declared)
        twice = next(name for name, after in pairwise(names) if name == after)
        raise ConfigError(
            f"two tables of {' and '.join(files)} declare the server {twice!r}, but for case",
            "rename one of them",
        )
    taken = {
        config.name: known[config.name].declared_in or "a command"
        for config in declared
        if config.name in known and known[config.name].declared_in not in files
    }
    waiting = [config for config in declared if not allowed(config)]
    add_servers(
        store,
        [
            config
            for config in declared
            if known.get(config.name) != config and config.name not in taken
            if config not in waiting
        ],
    )
    for name, config in known.items():
        if config.enabled and config.declared_in in files and name not in wanted:
            add_servers(store, [config._replace(enabled=False)])
    return [
        f"the server {each.name!r} of {each.declared_in} is not used until you allow it; "
        "see what it would run: pegboard allow"
        for each in waiting
    ] + [
        f"the server {name!r} of {wanted[name].declared_in} is left out: {other} added one already"
        for name, other in taken.items()
    ]


def chosen(store: Store, names: Sequence[str]) -> list[SourceRecord]:
    """The sources with these names, or all that can be read."""
    sources = {record.name: record for record in store.ledger.sources()}
    for name in names:
        if name not in sources:
            raise no_source(store, name)
    off = {each.config.name for each in store.ledger.servers() if not each.config.enabled}
    last = yielding(list(sources.values()))  # they take what the others leave
    asked = [name for name in names or sources if names or name not in off]
    return [sources[name] for name in sorted(asked, key=last.__contains__)]


def no_source(store: Store, name: str) -> UsageError:
    known = ", ".join(record.name for record in store.ledger.sources()) or "none"
    return UsageError(f"there is no source {name!r} on this board", f"known: {known}")
