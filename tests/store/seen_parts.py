"""A post office with two tenants on either store, and everything that can be asked of it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from making import make_file, make_item, work
from pegboard.app.pegboard import Pegboard
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import PegboardError
from pegboard.formats.plain import plain
from pegboard.model.calls import Caller, OnChange, Outcome, Role, ServerConfig, Transport
from pegboard.model.content import Link, Version
from pegboard.model.items import (
    Filters,
    Item,
    ItemId,
    Kind,
    Mode,
    Model,
    ModelSpec,
    Rejection,
    Visibility,
)
from pegboard.model.runs import Run
from pegboard.ports.store import Store
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore
from postgres_server import Server, fresh

SETTINGS = Settings(embed=EmbedSettings(provider="test"))

ANON = Caller()
EVE = Caller("eve")
ALICE = Caller("alice", ("a",), Role.AUTHOR)
AMOS = Caller("amos", ("a",))
ANN = Caller("ann", ("a",), Role.ADMIN)
BOB = Caller("bob", ("b",), Role.AUTHOR)
CAROL = Caller("carol", (), Role.AUTHOR)
POSTMASTER = Caller("pat", ("public",), Role.ADMIN)
ROOT = Caller("root", (), Role.ADMIN)
PEOPLE = (ANON, EVE, ALICE, AMOS, ANN, BOB, CAROL, POSTMASTER)


class Peg(NamedTuple):
    name: str
    namespace: str
    visibility: str
    author: str
    description: str

    @property
    def id(self) -> ItemId:
        return ItemId(f"tool:post:{self.name}")


PEGS = (
    Peg("send_letter", "public", "public", "", "Send a letter to somebody by post."),
    Peg("send_parcel", "public", "unlisted", "carol", "Send a parcel to a colleague."),
    Peg("burn_letter", "public", "private", "carol", "Burn a letter that nobody may read."),
    Peg("weigh_parcel", "a", "public", "amos", "Weigh a parcel, and tell what stamp it needs."),
    Peg("send_postcard", "a", "public", "alice", "Send a postcard to a colleague from the sea."),
    Peg("hide_letter", "a", "unlisted", "alice", "Hide a letter in a drawer of the office."),
    Peg("forge_stamp", "a", "private", "alice", "Forge a stamp for a letter."),
    Peg("steal_stamp", "a", "private", "amos", "Steal a stamp from the office."),
    Peg("send_telegram", "b", "public", "bob", "Send a letter, a letter, by telegraph."),
    Peg("send_postcard", "b", "public", "bob", "Send a postcard to a colleague from the hills."),
    Peg("send_postcards", "b", "public", "bob", "Send a postcard to everybody, letter by letter."),
    Peg("read_telegram", "b", "unlisted", "bob", "Read a telegram of somebody else."),
    Peg("tear_telegram", "b", "private", "bob", "Tear a telegram, a letter or a parcel."),
)


def sees(caller: Caller, peg: Peg) -> bool:
    """The table of docs/explanation/rights.md."""
    member = peg.namespace in caller.namespaces and bool(caller.subject)
    if not member and peg.namespace != "public":
        return False
    mine = bool(caller.subject) and peg.author == caller.subject
    return {"public": True, "unlisted": member or mine, "private": mine}[peg.visibility]


def seen_pegs(caller: Caller) -> list[Peg]:
    return [peg for peg in PEGS if sees(caller, peg)]


def items_of(peg: Peg, verb: str = "It works.") -> list[Item]:
    """A tool, and a note about it that links to it and to a telegram."""
    said: dict[str, Any] = {
        "category": "post",
        "namespace": peg.namespace,
        "visibility": Visibility(peg.visibility),
        "author": peg.author,
        "source": f"from_{peg.namespace}",
        "tags": (peg.name.split("_")[1],),
    }
    version = Version(
        "1.0.0", peg.name, {"name": peg.name}, files=(make_file(content=peg.name.encode()),)
    )
    described = f"{peg.description} {verb}"
    tool = make_item(peg.name, id=peg.id, description=described, version=version, **said)
    note = make_item(
        f"{peg.name}_note",
        id=ItemId(f"knowledge:post:{peg.name}-note"),
        kind=Kind.KNOWLEDGE,
        description=f"How to {peg.name.replace('_', ' ')}.",
        links=(Link("uses", peg.name), Link("related", "send_telegram")),
        **said,
    )
    return [tool, note]


def fill(store: Store, pegs: Sequence[Peg], namespaces: Sequence[str]) -> None:
    """All that belongs to these pegs, and the sources of these namespaces."""
    embedder = HashedEmbedder()
    target = embedder.fingerprint
    store.models.want(Model(target, ModelSpec("test")), chosen=False)
    for namespace in namespaces:
        source = f"from_{namespace}"
        config = ServerConfig(source, Transport.STDIO, command=source, namespace=namespace)
        store.ledger.put_server(config, f"{source} is here")
        store.ledger.reject([Rejection(source, f"{source}/bad", "h", "bad", f"not of {source}")])
    for verb in ("It works.", "It worked."):  # changed, so that what was approved is kept
        items = [item for peg in pegs for item in items_of(peg, verb)]
        store.items.put(items, target, on_change=OnChange.WARN)
    work(store, embedder)
    [late] = [peg for peg in pegs if peg.id == "tool:post:send_letter"]
    store.items.put([items_of(late)[1]._replace(description="A note to embed.")], target)
    for peg in pegs:
        entry = store.items.get(peg.id, peg.namespace)
        assert entry is not None
        store.curation.deactivate(entry, "owner", "for a while")
        store.curation.activate(entry, "owner", target)
        for who in ("alice", "bob", "cli"):
            at = store.now()
            run = Run(peg.namespace, peg.id, "1.0.0", at, Outcome.OK, 1.0, who)
            store.runs.record(run)
    work(store, embedder, 1)
    store.curation.resolve_links()
    store.items.take_census()


@contextmanager
def office(
    kind: str, server: Callable[[], Server], folder: Path, pegs: Sequence[Peg] = PEGS
) -> Iterator[Store]:
    """A board of this kind with these pegs and their namespaces."""
    namespaces = sorted({peg.namespace for peg in pegs})
    if kind == "sqlite":
        folder.mkdir(exist_ok=True)
        made = SqliteStore(folder / "board.db", create=True)
        try:
            fill(made, pegs, namespaces)
            yield made
        finally:
            made.close()
        return
    running = server()
    with fresh(running, running.template) as url:
        store = PostgresStore(url)
        try:
            fill(store, pegs, namespaces)
            yield store
        finally:
            store.close()


QUERIES = (
    "send a letter to a colleague",
    "postcard",
    "send postcard",
    "postcrad",
    "telegrm",
    "telegr",
    "stamp for a letter",
    "send_telegram",
    "steal the stamp",
    "nothing like it",
    "",
)
FILTERS = (
    Filters(namespaces=("b",)),
    Filters(namespaces=("a", "b", "public")),
    Filters(authors=("bob", "alice")),
    Filters(tags=("telegram", "letter")),
    Filters(sources=("from_b", "from_a")),
    Filters(kinds=("tool",), active=None),
)
NAMES = (
    *("send_letter", "post__send_postcard", "send_postcard", "tool:post:send_postcard"),
    *("b/tool:post:send_postcard", "tool:post:send_telegram", "send_telegram-note", "forge_stamp"),
    *("tool:post:steal_stamp", "a/tool:post:steal_stamp", "tool:post:send_parcel", "send_parcel"),
    *("a/tool:post:hide_letter", "tool:post:tear_telegram", "ghost", "b/tool:post:ghost"),
)
TIMES = re.compile(r"key|at|seconds|.*_at|.*_seconds|pace")


def shorn(value: object) -> object:
    """Without the numbers of rows, which no face shows, and without times."""
    if isinstance(value, dict):
        return {k: shorn(v) for k, v in value.items() if not TIMES.fullmatch(k)}
    return [shorn(each) for each in value] if isinstance(value, list) else value


def asked(question: Callable[..., object], *given: Any, **named: Any) -> object:
    """What is answered, or how it is refused."""
    try:
        return shorn(plain(question(*given, **named)))
    except PegboardError as error:
        return [error.code, error.message, error.hint]


def answers(board: Pegboard) -> dict[str, object]:
    """Everything that a face can ask, and what is answered; nothing is changed by it."""
    told: dict[str, object] = {}
    every = {"limit": 50, "threshold": 0.0}
    for mode in Mode:
        for query in QUERIES:
            told[f"{mode} {query}"] = asked(board.search, query, mode=mode, explain=True, **every)
        told[f"{mode} as set"] = asked(board.search, QUERIES[0], mode=mode, diverse=True)
    for filters in FILTERS:
        told[f"{filters}"] = asked(board.search, QUERIES[0], filters=filters, **every)
    for name in NAMES:
        linked = Filters(linked=(name,))
        told[f"linked {name}"] = asked(board.search, "letter", filters=linked, **every)
        told[f"show {name}"] = asked(board.show, name)
        told[f"chosen {name}"] = asked(board.curate.chosen, name, files=True)
        told[f"ties {name}"] = asked(_ties, board, name)
        told[f"history {name}"] = asked(board.curate.history, name)
        told[f"runs {name}"] = asked(board.runs, name)
        told[f"counts {name}"] = asked(board.store.runs.counts, name)
    return told | {
        "census": asked(board.census),
        "listed": asked(board.listed),
        "pages": asked(board.store.index.listed, Filters(active=None), ("", ""), 50),
        "runs": asked(board.runs),
        "counts": asked(board.store.runs.counts),
        "status": asked(board.status),
        "sources": asked(board.sources),
        "servers": asked(board.servers),
        "rejections": asked(board.rejections),
        "loose": asked(board.curate.loose_links),
        "changes": asked(board.trust.changes),
        "models": asked(board.models.listed),
    }


def _ties(board: Pegboard, name: str) -> object:
    return board.curate.ties(board.show(name))
