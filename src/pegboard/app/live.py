"""A board that follows its sources while a face serves it."""

import gc
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pegboard.app.pegboard import Pegboard
from pegboard.board.sync.keeping import Keeping
from pegboard.board.sync.one_source import SyncReport
from pegboard.config.freeact import PytoolsPlace
from pegboard.errors import BoardCorrupt, BoardReadOnly
from pegboard.model.items import SourceRecord
from pegboard.store.opening import open_store

log = logging.getLogger(__name__)

BATCH = 32
"""Texts that are embedded at once: a batch in hand delays the end."""
PYTOOLS = "pytools"


def nobody() -> None:
    """Nobody wants to know."""


@contextmanager
def kept(
    board: Pegboard,
    *,
    sync: bool = True,
    watch: bool = True,
    on_change: Callable[[], None] = nobody,
) -> Iterator[Keeping]:
    """While inside, the board follows its sources and embeds what is new, in the background."""
    writable = not board.store.facts()["read_only"]
    if not writable:
        log.warning("the board cannot be written, and so it is served as it is")
    sync, watch = sync and writable, watch and writable
    for notice in board.trust.follow_files() if sync else ():
        log.warning(notice)
    if writable:
        board.trust.apply_policy()
    worker = board.worker() if board.embedder is not None and writable else None
    if worker is not None:
        batch = min(worker.settings.batch_size, BATCH)
        worker.settings = worker.settings._replace(batch_size=batch)

    def work(stop: threading.Event) -> None:
        try:
            if worker is not None:
                worker.run(stop)
        except BoardReadOnly as error:
            log.warning("%s; embedding is left to others", error.message)

    def sync_one(name: str, under: Sequence[str], stop: threading.Event) -> Sequence[SyncReport]:
        return board.sync([name], embed=False, under=under, stop=stop).sources

    keeping = Keeping(
        sources=board.sources,
        servers=board.upstream.configs,
        sync=sync_one,
        fetch=board.upstream.fetch,
        refresh=board.upstream.refresh,
        work=work if worker else None,
        on_change=on_change,
        await_change=board.store.await_change,
        follow=sync,
        watch=watch,
    )
    board.upstream.on_changed = keeping.want_server
    board.trouble = keeping.trouble
    keeping.start()
    # What is there by now stays, and need not be gone through at every collection: that would stop
    # every thread for a tenth of a second.
    gc.collect()
    gc.freeze()
    try:
        yield keeping
    finally:
        gc.unfreeze()
        board.trouble = tuple
        keeping.stop()
        board.upstream.close()  # while the threads are on their way out
        keeping.close()


def open_pytools(place: PytoolsPlace) -> Pegboard:
    """The board of freeact's variables, with the tools folder as its source.

    The folder may be made later. A database that freeact itself made is left as it is: the board
    is then the file beside it.
    """
    path = place.board
    try:
        store = open_store(path, create=True)
    except BoardCorrupt:
        path = path.with_name(f"{path.stem}.pegboard{path.suffix}")
        log.warning("%s is no board; using %s beside it", place.board, path.name)
        store = open_store(path, create=True)
    folder = str(place.folder.resolve())
    if not any(
        (each.kind, each.location) == ("pytools", folder) for each in store.ledger.sources()
    ):
        store.ledger.add_source(SourceRecord(PYTOOLS, "pytools", folder))
    return Pegboard(store, place.settings)
