"""The seams: what the stages promise one another, where there is more than one way to keep it."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from pegboard.calls import Caller, CensusLine, Change, OnChange
from pegboard.content import Blob, Version, VersionLine
from pegboard.curation import Curation
from pegboard.ledger import Ledger
from pegboard.model import (
    EmbeddingCounts,
    Entry,
    Filters,
    Finding,
    Fingerprint,
    FirstLook,
    Item,
    ItemId,
    KeptVectors,
    LegHit,
    Model,
    ModelState,
    PutReport,
    Spellings,
    Task,
    Vector,
    WordHits,
    WordQuery,
)
from pegboard.releases import Releases
from pegboard.runs import Runs
from pegboard.tokens import Tokens


class Progress(Protocol):
    """Is told how far a long piece of work has come; `total` is None while it is not known."""

    def __call__(self, step: str, done: int, total: int | None) -> None: ...


class Source(Protocol):
    """A place where candidates come from."""

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        """Everything that is there now, or at least what is at or under the paths in `under`.

        `known` maps an origin to the content hash it had last time; an origin whose hash is the
        same may be answered with `Unchanged`. Raises `SourceError` if the source as a whole cannot
        be read; whatever is wrong with one origin is a `Rejection`.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors that can be compared with one another, and with no others."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. A text's vector does not depend on its neighbours."""
        ...

    def embed_query(self, text: str) -> Vector: ...

    def close(self) -> None:
        """End whatever it runs in the background."""
        ...


class Items(Protocol):
    def put(
        self,
        items: Sequence[Item],
        target: Fingerprint | None,
        *,
        rewrite: bool = False,
        on_change: OnChange | None = None,
        yielding: frozenset[str] = frozenset(),
        fixed: bool = False,
        own: bool = False,
    ) -> PutReport:
        """Item, text index and embedding task of each, all in one transaction.

        What has not changed is not written again, unless `rewrite` asks for it. Where `on_change`
        is given, definitions are approved when first seen and compared from then on. An id that
        another source has is refused, unless that source is among the `yielding` ones.

        Versions of other numbers stay (`store.versioning`). One of the same number is replaced; if
        versions are `fixed` and it has other content, the item is refused instead. So is, if all
        are to be their author's `own`, one whose id another author has.
        """
        ...

    def changed(self) -> list[Change]:
        """Items that are not what was approved."""
        ...

    def approve(self, entries: Sequence[Entry], target: Fingerprint | None, by: str = "") -> int:
        """Approve what these items are now, unless they have changed again; returns how many."""
        ...

    def apply_policy(self, source: str, on_change: OnChange) -> None:
        """Make a stricter or more lenient policy hold also for what changed under another one.

        What is held back stays so under `warn`; only `allow` or an approval lets go of it.
        """
        ...

    def census(self, namespaces: Sequence[str]) -> list[CensusLine]:
        """How many active items each category has, in these namespaces or in all."""
        ...

    def listed(
        self,
        categories: Sequence[str],
        namespaces: Sequence[str],
        after: tuple[str, str],
        limit: int,
    ) -> list[Entry]:
        """Active items of these, or of all, by id and namespace, from the one after `after`."""
        ...

    def get(self, item_id: ItemId, namespace: str, *, files: bool = True) -> Entry | None: ...

    def versions(self, item_id: ItemId, namespace: str) -> list[VersionLine]:
        """Those that are kept, newest first; the latest is whichever was put last."""
        ...

    def version(self, item_id: ItemId, namespace: str, number: str) -> Version | None: ...

    def named(self, name: str) -> list[Entry]:
        """Active items by id, `namespace/id`, `category__name` or name; see `board.describe`."""
        ...

    def page(self, after: int, limit: int) -> list[Entry]:
        """Items in the order of their keys, from the one after `after`."""
        ...

    def origins(self, source: str, under: Sequence[str] = ()) -> dict[str, str]:
        """Origin and content hash of everything on the board, or refused, from this source.

        With `under`, only of what is at or under these paths.
        """
        ...

    def retire(
        self, source: str, seen: Sequence[str], began: float, purge_before: float
    ) -> tuple[int, int]:
        """Deactivate what a scan did not see, and remove what went missing before that time.

        `seen` are origins of what is as it was, and ids of what was put. What was put after the
        scan began is left alone: another sync saw it. Returns how many went, and were removed.
        """
        ...

    def retire_under(
        self, source: str, under: Sequence[str], seen: Sequence[str], began: float
    ) -> int:
        """As `retire`, for what is at or under these paths and nothing else; removes nothing."""
        ...

    def take_census(self) -> None:
        """If the board has grown or shrunk much since the last: tidy the index, count its terms."""
        ...


class Tasks(Protocol):
    def enqueue(self, target: Fingerprint, texts: Sequence[tuple[int, str, str]]) -> int:
        """Queue (item key, content hash, text) of each item that still has this content."""
        ...

    def unembedded(self, target: Fingerprint, after: int, limit: int) -> list[Entry]:
        """Active items with neither a vector of this fingerprint nor a task that will make one."""
        ...

    def adopt(self, target: Fingerprint, beside: Fingerprint | None = None) -> None:
        """Make this the kind of vector that the board is after, and another one `beside` it.

        Tasks for others are dropped. An item that waits although its vector is there is ready.
        """
        ...

    def disable(self) -> int:
        """Mark every item that waits for a vector as disabled, and drop its task."""
        ...

    def claim(
        self,
        target: Fingerprint,
        owner: str,
        limit: int,
        lease: float,
        *,
        tried_first: bool = False,
    ) -> list[Task]:
        """Tasks that were never tried, up to the limit, or one that was: whichever comes first.

        Namespaces that have any take turns, and each gives its oldest first.
        """
        ...

    def finish(self, target: Fingerprint, done: Sequence[tuple[Task, Vector]]) -> int:
        """Hang the vectors of each task, all or none, if its item still has that text; says of how
        many. A task comes once with each passage of its text, in order.
        """
        ...

    def fail(self, owner: str, task: Task, error: str, retry_at: float | None) -> None:
        """Put the task back until `retry_at`, or give it up if that is None."""
        ...

    def release(self, owner: str, *, died: bool = False) -> int:
        """Give back everything this owner holds, as if never claimed; if it died, as tried."""
        ...

    def owners(self) -> list[str]:
        """Who holds a lease at present."""
        ...

    def await_work(self, stop: threading.Event, seconds: float) -> None:
        """Come back when there may be something to claim, when told to stop, or after so long;
        what anybody queues after this thread's last look is never slept through."""
        ...

    def rest(self, target: Fingerprint, stop: threading.Event) -> None:
        """The rush is over: make searches by these vectors quick, until told to stop."""
        ...

    def revive(self, item_key: int | None) -> int:
        """Make failed tasks pending again, of one item or of all."""
        ...

    def counts(self, target: Fingerprint | None) -> EmbeddingCounts:
        """How far the active items are on the way to a vector of this kind."""
        ...

    def has_stray(self, targets: Sequence[Fingerprint]) -> bool:
        """Whether there are tasks for other vectors than these."""
        ...

    def waiting(self, target: Fingerprint | None) -> int:
        """How many tasks for such vectors are still to be done."""
        ...

    def pace(self, target: Fingerprint | None) -> tuple[float | None, float]:
        """When the oldest of those was queued, and how many vectors a second were hung lately."""
        ...

    def without_vector(self, target: Fingerprint) -> int:
        """How many active items cannot be found by meaning at present."""
        ...


class Models(Protocol):
    """Which model's vectors are searched. Each change is one transaction."""

    def state(self) -> ModelState:
        """As it is now, whichever process changed it; asked at every search."""
        ...

    def want(self, model: Model, *, chosen: bool) -> ModelState:
        """Build this model's vectors beside the active ones; wanting the active one ends that.

        It is active at once if no other is, or if the active one has no vector.
        """
        ...

    def activate(self, target: Fingerprint, *, skip_failed: bool = False) -> bool:
        """Search by these vectors from now on, if they are wanted still and no active item lacks
        one; with `skip_failed`, none but those that were given up. Says whether they are active.
        """
        ...

    def kept(self) -> list[KeptVectors]: ...

    def prune(self) -> int:
        """Remove vectors of models that are neither active, wanted nor previous; returns how many.

        A little at a time, so that nobody has to wait for it.
        """
        ...


class Index(Protocol):
    """The legs. Filters apply before ranking; equal scores are ordered by id.

    An item is as near to a query as the nearest of its passages, which are counted from 0.
    """

    def first_look(
        self, terms: Sequence[str], name_key: str, filters: Filters, limit: int
    ) -> FirstLook:
        """The frequencies of all terms, whatever the filters, and as many named items as asked."""
        ...

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """As the first look has them, for terms that come up later."""
        ...

    def keyword(self, query: WordQuery, filters: Filters, limit: int) -> WordHits:
        """BM25 over all fields, for items with any term of the lead or, if asked, with every."""
        ...

    def keyword_scores(self, query: WordQuery, keys: Sequence[int]) -> dict[int, float]:
        """BM25 over all terms of the query for these items; nothing for one that has none."""
        ...

    def vector(
        self, query: Vector, target: Fingerprint, filters: Filters, limit: int
    ) -> list[LegHit]: ...

    def vector_scores(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, float]: ...

    def best_passages(
        self, query: Vector, target: Fingerprint, keys: Sequence[int]
    ) -> dict[int, int]: ...

    def among(self, keys: Sequence[int], filters: Filters) -> frozenset[int]:
        """Those of these items that the filters leave."""
        ...

    def words_like(
        self, variants: Sequence[str], beginnings: Sequence[str], limit: int
    ) -> Spellings:
        """Words near the variants (`pegboard.text.variants`), and so many for each beginning."""
        ...

    def entries(self, keys: Sequence[int]) -> dict[int, Entry]: ...

    def listed(self, filters: Filters, after: tuple[str, str], limit: int) -> list[Entry]:
        """What the filters leave, by id and namespace, from the one after `after`."""
        ...


class Store(Protocol):
    """A board's database: SQLite or PostgreSQL, with the same behaviour."""

    @property
    def items(self) -> Items: ...

    @property
    def tasks(self) -> Tasks: ...

    @property
    def models(self) -> Models: ...

    @property
    def index(self) -> Index: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def curation(self) -> Curation: ...

    @property
    def runs(self) -> Runs: ...

    @property
    def releases(self) -> Releases: ...

    @property
    def tokens(self) -> Tokens: ...

    def seen_by(self, caller: Caller) -> "Store":
        """The same board with the rights of this caller; whoever is everywhere gets it all.

        It shares everything with this one and is not closed by itself. Nothing that it tells or
        does depends on what the caller may not see.
        """
        ...

    def now(self) -> float:
        """Seconds since the epoch by the board's own clock, the same for every machine."""
        ...

    def await_change(self, stop: threading.Event, seconds: float) -> bool:
        """Come back when somebody may have changed the board, when told to stop, or after so long.

        Says whether it may have been changed since this thread last asked.
        """
        ...

    def check(self) -> list[str]:
        """Every broken invariant, as a sentence."""
        ...

    def unused_files(self, older_than: float, *, remove: bool = False) -> list[Blob]:
        """Large files that belong to nothing on the board and are at least so many seconds old."""
        ...

    def facts(self) -> Mapping[str, object]:
        """Where the board is, how large, and which engine serves it."""
        ...

    def close(self) -> None: ...
