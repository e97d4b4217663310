"""The composition root: settings in, a working board out. Also the Python API."""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from pegboard.board import maintain
from pegboard.board.describe import describe
from pegboard.board.evaluate import (
    EVALUATED,
    EvalQuery,
    Filled,
    evaluate,
    fill,
    find_catalogue,
    read_queries,
)
from pegboard.board.filling import Filling, Outcome
from pegboard.board.find import Ask, FindSettings, find
from pegboard.board.sweep import Bench, sweep
from pegboard.board.worker import Worker, WorkerSettings
from pegboard.config import Located, SearchSettings, Settings, load, user_config_file
from pegboard.embed.choose import make_embedder
from pegboard.errors import ModelUnavailable, UsageError
from pegboard.gate.admission import NAMESPACE_RULE, admit, is_namespace
from pegboard.model import (
    DEFAULT_NAMESPACE,
    Answer,
    Entry,
    Filters,
    Fingerprint,
    Mode,
    Rejection,
    SourceRecord,
)
from pegboard.ports import Progress, Source, Store
from pegboard.search.boosts import BoostSettings
from pegboard.search.fusion import FusionSettings, Method
from pegboard.sources.jsonl import JsonlSource
from pegboard.sources.pytools import PytoolsSource
from pegboard.store.sqlite.store import SqliteStore

SEARCH_THREADS = 4
"""So many searches may look up meaning at the same time."""


def quiet(step: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def located(*, board: str | None = None, flags: Mapping[str, object] | None = None) -> Located:
    """The settings that hold in the working folder."""
    said = dict(flags or {}) | ({"board": board} if board else {})
    return load(cwd=Path.cwd(), environ=os.environ, flags=said, user_file=user_config_file())


class Pegboard:
    """One board and everything that can be done with it.

    >>> with Pegboard.open() as board:
    ...     for hit in board.search("send a message to my colleagues").hits:
    ...         print(hit.id, hit.score)
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        embed = settings.embed
        self.embedder = make_embedder(
            embed.provider,
            model=embed.model,
            device=embed.device,
            dimension=embed.dimension,
            threads=embed.threads,
        )
        self._beside = ThreadPoolExecutor(SEARCH_THREADS, "pegboard-search")

    @classmethod
    def open(cls, board: str | None = None, *, create: bool = False, **flags: object) -> Self:
        """The board of the working folder's project, or the one in this file.

        Settings can be given as `section__key`, for instance `search__limit=10`.
        """
        place = located(board=board, flags={k.replace("__", "."): v for k, v in flags.items()})
        return cls(SqliteStore(place.board, create=create), place.settings)

    @property
    def target(self) -> Fingerprint | None:
        """What new vectors must be like; None if there are to be none."""
        return self.embedder.fingerprint if self.embedder else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._beside.shutdown()
        if self.embedder is not None:
            self.embedder.close()
        self.store.close()

    def search(
        self,
        query: str,
        *,
        mode: str | None = None,
        limit: int | None = None,
        filters: Filters | None = None,
        threshold: float | None = None,
        diverse: bool = False,
        explain: bool = False,
    ) -> Answer:
        """The hits that fit, best first; if none does, `nearest` has the three that come closest.

        What is not given is taken from the settings. A threshold that is given holds for every hit;
        0 lets everything through.
        """
        found = self.settings.search
        wanted = found.limit if limit is None else limit
        if wanted < 1:
            raise UsageError(f"limit is {limit}; it must be at least 1")
        if threshold is not None and not 0 <= threshold <= 1:
            raise UsageError(f"threshold is {threshold}; it must be from 0 to 1")
        if mode not in (None, *Mode):
            raise UsageError(f"mode is {mode!r}; it must be one of {', '.join(Mode)}")
        ask = Ask(
            text=query,
            mode=Mode(mode or found.mode),
            filters=filters or Filters(),
            limit=wanted,
            threshold=threshold,
            diverse=diverse,
            explain=explain,
        )
        return find(self.store, self.embedder, ask, find_settings(found), beside=self._beside)

    def show(self, name: str) -> Entry:
        return describe(self.store, name)

    def add_folder(
        self, path: Path | str, *, name: str | None = None, namespace: str = DEFAULT_NAMESPACE
    ) -> SourceRecord:
        folder = Path(path).expanduser().resolve()
        if not is_namespace(namespace):
            raise UsageError(f"{namespace!r} is no namespace", NAMESPACE_RULE)
        name = name or re.sub(r"[^a-z0-9_.-]+", "-", folder.name.lower()).strip("-._") or "folder"
        if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,62}", name):
            raise UsageError(
                f"{name!r} is no name for a source", "it takes a-z, 0-9, '-', '_' and '.'"
            )
        if not str(folder).isprintable():
            raise UsageError(f"{str(folder)!a} has characters that cannot be written down")
        record = SourceRecord(
            name=name,
            kind="pytools",
            location=str(folder),
            namespace=namespace,
        )
        next(self._source(record).scan({}), None)  # says so at once if this is no such folder
        self._refuse_clash(record)
        self.store.ledger.add_source(record)
        return record

    def _refuse_clash(self, record: SourceRecord) -> None:
        for other in self.sources():
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

    def sources(self) -> list[SourceRecord]:
        return self.store.ledger.sources()

    def remove_source(self, name: str) -> None:
        if not self.store.ledger.remove_source(name):
            raise self._no_source(name)

    def sync(
        self,
        names: Sequence[str] = (),
        *,
        full: bool = False,
        embed: bool = True,
        progress: Progress = quiet,
        stop: threading.Event | None = None,
    ) -> Outcome:
        chosen = self._chosen(names)
        filling = self._filling(progress, stop)
        with filling.embedding(beside=embed) as target:
            for record in chosen:
                filling.read(
                    record,
                    self._source(record),
                    admit,
                    target,
                    full=full,
                    keep_missing_days=self.settings.sync.keep_missing_days,
                )
        return filling.outcome

    def _filling(self, progress: Progress, stop: threading.Event | None) -> Filling:
        settings = self._worker_settings()
        return Filling(self.store, self.embedder, settings, progress, stop or threading.Event())

    def worker(self) -> Worker:
        if self.embedder is None:
            raise UsageError("embedding is disabled", "set embed.provider to something else")
        return Worker(self.store, self.embedder, self._worker_settings())

    def _worker_settings(self) -> WorkerSettings:
        embed = self.settings.embed
        return WorkerSettings(embed.batch_size, embed.lease_seconds, embed.max_attempts)

    def backfill(
        self, *, progress: Progress = quiet, stop: threading.Event | None = None, work: bool = True
    ) -> Outcome:
        """Queue whatever has no vector of the present model, and embed it."""
        filling = self._filling(progress, stop)
        with filling.embedding(beside=work):
            pass
        return filling.outcome

    def retry(self, name: str | None) -> int:
        """Make failed embeddings pending again, of one item or of all."""
        return self.store.tasks.revive(self.show(name).key if name else None)

    def refresh(self, name: str | None, *, progress: Progress = quiet) -> int:
        """Queue a new embedding, of one item or of all."""
        if self.target is None:
            raise UsageError("embedding is disabled", "set embed.provider to something else")
        entry = self.show(name) if name else None
        return maintain.refresh(self.store, self.target, entry, progress)

    def status(self) -> maintain.Status:
        try:
            target = self.target
            model = target.key if target else "disabled"
        except ModelUnavailable as error:
            target, model = None, f"unavailable: {error.message}"
        return maintain.status(self.store, model, target)

    def rejections(self) -> list[Rejection]:
        return self.store.ledger.rejections()

    def check(self) -> list[str]:
        return maintain.check(self.store)

    def evaluate(
        self, folder: Path, *, mode: str, limit: int, progress: Progress = quiet
    ) -> tuple[dict[str, object], list[str]]:
        """Index the folder's tools here, ask its queries, and measure. Also returns notices."""
        queries, filled = self._evaluation(folder, progress)
        measured = evaluate(
            queries,
            lambda text: self.search(
                text, mode=mode, limit=limit, filters=EVALUATED, threshold=0.0
            ),
            self.settings.search.threshold,
            progress,
        )
        return measured | {"tools": filled.tools, "mode": mode}, filled.notices

    def sweep(
        self, folder: Path, *, progress: Progress = quiet
    ) -> tuple[dict[str, object], list[str]]:
        """As `evaluate`, in search of settings that would do better."""
        if self.target is None:
            raise UsageError(
                "embedding is disabled, so there is nothing to weigh words against",
                "set embed.provider to something else",
            )
        queries, filled = self._evaluation(folder, progress)
        found = self.settings.search
        bench = Bench(self.store, self.embedder, find_settings(found), found.threshold)
        report, notices = sweep(bench, queries, progress)
        return report | {"tools": filled.tools}, filled.notices + notices

    def _evaluation(self, folder: Path, progress: Progress) -> tuple[list[EvalQuery], Filled]:
        queries = read_queries(folder / "queries.jsonl")
        catalogue = find_catalogue(folder)
        return queries, fill(
            self.store, catalogue, lambda names: self.sync(names, progress=progress)
        )

    def _chosen(self, names: Sequence[str]) -> list[SourceRecord]:
        sources = {record.name: record for record in self.sources()}
        for name in names:
            if name not in sources:
                raise self._no_source(name)
        return [sources[name] for name in names] if names else list(sources.values())

    def _no_source(self, name: str) -> UsageError:
        known = ", ".join(record.name for record in self.sources()) or "none"
        return UsageError(f"there is no source {name!r} on this board", f"known: {known}")

    def _source(self, record: SourceRecord) -> Source:
        make: dict[str, Callable[[], Source]] = {
            "pytools": lambda: PytoolsSource(
                record.name,
                Path(record.location),
                namespace=record.namespace,
                max_file_bytes=self.settings.sync.max_file_bytes,
            ),
            "jsonl": lambda: JsonlSource(
                record.name, Path(record.location), namespace=record.namespace
            ),
        }
        if record.kind not in make:
            raise UsageError(f"source {record.name!r} is of the unknown kind {record.kind!r}")
        return make[record.kind]()


def find_settings(found: SearchSettings) -> FindSettings:
    return FindSettings(
        depth=found.depth,
        fusion=FusionSettings(
            method=Method(found.fusion),
            alpha=found.alpha,
            k=found.k,
            bm25_weight=found.bm25_weight,
            vector_weight=found.vector_weight,
            fuzzy_weight=found.fuzzy_weight,
        ),
        boosts=BoostSettings(
            recency=found.boost_recency,
            quality=found.boost_quality,
            usage=found.boost_usage,
            semantic_weight=found.boost_semantic_weight,
        ),
        threshold=found.threshold,
        floor=found.floor,
    )


@contextmanager
def evaluation_board(board: Path | None, settings: Settings) -> Iterator[Pegboard]:
    """The board an evaluation builds: kept if it was given a place, else gone afterwards."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="pegboard-eval-") as scratch:
        store = SqliteStore(board or Path(scratch) / "board.db", create=True)
        with Pegboard(store, settings) as pegboard:
            yield pegboard
