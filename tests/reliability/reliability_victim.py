"""The other process: plays one role on a board, until it is done or killed.

It says on standard output what it has come to, and waits on standard input to be let go on.
"""

import itertools
import random
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pegboard import Pegboard
from pegboard.board.maintain.worker import Worker, WorkerSettings
from pegboard.cli.shared import stop_on_signals
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import EXIT_INTERRUPTED
from pegboard.model.content import Version
from pegboard.model.curation import Edit
from pegboard.model.items import CREATED, Item, ItemId, Vector
from pegboard.store.opening import open_store
from pegboard.store.sqlite.store import SqliteStore


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def wait_to_be_let_go() -> None:
    sys.stdin.readline()


class BlockedEmbedder(HashedEmbedder):
    """Stops between claim and finish."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        found = super().embed(texts)
        say("claimed")
        wait_to_be_let_go()
        return found


def hold_claim(board: str, batch: str) -> None:
    settings = WorkerSettings(batch_size=int(batch))
    Worker(open_store(board), BlockedEmbedder(256), settings).step()
    say("finished")


def work_until_stopped(board: str) -> None:
    """The worker's own way to stop, with an embedder that takes for ever."""
    with stop_on_signals() as stop:
        threading.Thread(target=lambda: (stop.wait(), say("stopping")), daemon=True).start()
        try:
            Worker(open_store(board), BlockedEmbedder(256), WorkerSettings()).run(stop)
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)


def hold_lock(board: str) -> None:
    """Only a board in a file has one lock for all of it."""
    with SqliteStore(Path(board)).database.write():
        say("locked")
        wait_to_be_let_go()


def hold_retire(board: str) -> None:
    """Stops between the last put of a sync and its retiring."""
    with Pegboard.open(board) as pegboard:
        _hold(pegboard.store.items, "retire", "retiring")
        pegboard.sync()


def hold_settle(board: str) -> None:
    """Stops between a put of a sync and the forgetting of rejections that it settles."""
    with Pegboard.open(board) as pegboard:
        _hold(pegboard.store.ledger, "settle", "settling")
        pegboard.sync()


def _hold(part: object, method: str, word: str) -> None:
    """Stops in front of this method until it is let go."""
    does = getattr(part, method)

    def held(*arguments: Any, **named: Any) -> Any:
        say(word)
        wait_to_be_let_go()
        return does(*arguments, **named)

    setattr(part, method, held)


def make_board(board: str) -> None:
    say("ready")
    wait_to_be_let_go()
    open_store(board, create=True).close()


def sync_often(board: str, rounds: str) -> None:
    for _ in range(int(rounds)):
        with Pegboard.open(board) as pegboard:
            pegboard.sync()


def search_often(board: str, rounds: str) -> None:
    with Pegboard.open(board) as pegboard:
        for _ in range(int(rounds)):
            for mode in ("hybrid", "bm25", "vector"):
                assert pegboard.search("archive the invoice", mode=mode).hits


def rewrite_one_item(board: str) -> None:
    """One item, again and again in another version, until it is let go."""
    store = open_store(board)
    with stop_on_signals() as stop:
        number = 0
        while not stop.is_set():
            number += 1
            store.items.put([_versioned(number)], None)
            if number == 1:
                say("writing")


def edit_one_item(board: str, who: str) -> None:
    """One item, again and again in other words, removed and made anew, until it is killed."""
    store, target = open_store(board), HashedEmbedder(256).fingerprint
    for number in itertools.count(1):
        item = _versioned(number)._replace(source=CREATED, tags=(f"tag{number}",))
        store.items.put([item], target)
        entry = store.items.get(item.id, item.namespace)
        assert entry is not None
        said = Edit(description=f"Said {number}.", tags=(f"said{number}",), active=False)
        for edit in (said, said._replace(active=True), Edit(description=None, tags=None)):
            store.curation.edit(entry, edit, f"{who} {number}", target)
        assert store.curation.remove(entry, f"{who} {number}")
        if number == 1:
            say("editing")


def _versioned(number: int) -> Item:
    return Item(
        id=ItemId("mcptools:demo:moving"),
        name="moving",
        description=f"Moves for the time {number}.",
        source="demo",
        version=Version(version=f"{number}.0.0", content_hash=str(number)),
    )


def stop_while_idle(board: str, times: str) -> None:
    """A worker with nothing to do is told to stop, at a random moment of its waiting."""
    settings = WorkerSettings(poll_seconds=0.00001)
    store = open_store(board)
    for _ in range(int(times)):
        with stop_on_signals() as stop:
            signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGTERM))
            signal.setitimer(signal.ITIMER_REAL, random.uniform(0.001, 0.003))
            Worker(store, HashedEmbedder(8), settings).run(stop)
    say("stopped")


ROLES: dict[str, Callable[..., None]] = {
    role.__name__: role
    for role in (
        hold_claim,
        work_until_stopped,
        hold_lock,
        hold_retire,
        hold_settle,
        make_board,
        sync_often,
        search_often,
        rewrite_one_item,
        edit_one_item,
        stop_while_idle,
    )
}

if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
