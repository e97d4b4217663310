"""The composition root: settings in, a working board out. Also the Python API."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pegboard.app import runners
from pegboard.app.upkeep import Upkeep
from pegboard.board.curate.editing import Curating
from pegboard.board.describe.bounds import bounded, place_for, refuse_nonsense
from pegboard.board.find.answering import Ask
from pegboard.board.find.patience import Beside, Patience
from pegboard.board.find.requests import find_requests, requests_of
from pegboard.board.maintain.models import BoardModels
from pegboard.board.sync.upstream import BOARDS_ABOVE, Upstream
from pegboard.board.trust.allowing import Files, Trust
from pegboard.config.freeact import PytoolsPlace, pytools_place
from pegboard.config.gateway import GatewayPlace, gateway_place, registry_gateway
from pegboard.config.loading import load
from pegboard.config.parts import embedders, find_settings, sealing_of
from pegboard.config.places import Located, Tier, allowed_file, keyring_folder, user_config_file
from pegboard.config.settings import Settings
from pegboard.errors import BoardMissing, BoardReadOnly, KeyUnusable
from pegboard.formats.addresses import without_addresses
from pegboard.model.answers import Answer, Hit
from pegboard.model.calls import OWNER, Asker, Caller, CallResult, OnChange, OnProgress
from pegboard.model.content import Json
from pegboard.model.items import Filters, Item, Mode
from pegboard.ports.stages import Embedder
from pegboard.ports.store import Store
from pegboard.sources.mcp import config as mcp_config
from pegboard.store.blobs.opening import open_blobs
from pegboard.store.opening import open_store

__all__ = ["Pegboard", "located", "located_pytools"]

if TYPE_CHECKING:
    from pegboard.board.create.drafts import Draft
    from pegboard.board.create.making import Created
    from pegboard.board.publish.releasing import Releasing
    from pegboard.board.run.calling import Call, Running
    from pegboard.board.trust.tokens import BoardTokens

SEARCH_THREADS = 4
"""So many searches may look up meaning at the same time."""

START_SECONDS = 5.0
"""So long a search for what can be called waits for servers that are just starting."""


Share = Callable[[Caller, Ask, str | None, Patience | None, Callable[[], Answer]], Answer]


def located(*, board: str | None = None, flags: Mapping[str, object] | None = None) -> Located:
    """The settings that hold in the working folder."""
    said = dict(flags or {}) | ({"board": board} if board else {})
    return load(cwd=Path.cwd(), environ=os.environ, flags=said, user_file=user_config_file())


def located_gateway(
    *, gateway: str | None = None, board: str | None = None, token_file: Path | None = None
) -> GatewayPlace | None:
    """The gateway that is to be asked instead of a board here, if one is."""
    return gateway_place(os.environ, gateway=gateway, board=board, token_file=token_file)


def located_registry(place: Located) -> GatewayPlace:
    """The gateway that the registry is behind."""
    registry = place.settings.registry
    return registry_gateway(os.environ, registry.url, registry.token_file)


def located_pytools() -> PytoolsPlace:
    """Where the variables of freeact's search server point."""
    return pytools_place(cwd=Path.cwd(), environ=os.environ)


def own_embedder(place: Located) -> Embedder | None:
    """What the settings that hold there embed with."""
    return embedders(place.settings, os.environ)(place.settings.embed.spec)


class Pegboard(Upkeep):
    """One board and everything that can be done with it.

    >>> with Pegboard.open() as board:
    ...     for hit in board.search("send a message to my colleagues").hits:
    ...         print(hit.id, hit.score)
    """

    def __init__(self, store: Store, settings: Settings, place: Located | None = None) -> None:
        self.place = place
        declared = place.servers if place else ()
        self.store = store
        self.settings = settings
        self._tiers = place.tiers if place else (Tier.USER,)
        self._project = place.ground if place else None
        self.within: Filters | None = None
        """What whoever is served here may find, and so describe and call; None for the owner."""
        self.caller = OWNER
        self._whole: Pegboard = self
        self._making = threading.Lock()
        self._environ = os.environ
        self.trouble: Callable[[], Sequence[str]] = tuple
        """Why the board may be out of date, as far as somebody here keeps it up."""
        self.trust = Trust(
            store,
            OnChange(settings.trust.changed),
            Files(place.files if place else (), str(user_config_file()), allowed_file(settings)),
            lambda: [mcp_config.from_table(s.name, s.table, where=s.file) for s in declared],
        )
        # onnxruntime reports its use to its maker from the moment it is loaded, unless told not to.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        sessions = partial(runners.open_sessions, settings, os.environ)
        self.upstream = Upstream(store, sessions, self.boards_above())
        self.models = BoardModels(
            store, settings.embed.spec, embedders(settings, os.environ), self.trust
        )
        self.curate = Curating(store, self.models.target)
        self._beside = Beside(SEARCH_THREADS)
        self.search_seconds: float | None = None
        """How long a search may take that says nothing else; None sets no bound."""
        self.share: Share = lambda caller, ask, model, patience, here: here()
        """By whom a search is made: here, unless somebody else does it."""
        self.on_search: Callable[[str, Answer], None] = lambda mode, answer: None
        self.on_call: Callable[[Item, CallResult], None] = lambda item, result: None
        """Are told of each search and of each call that ended, whoever asked, in any thread."""

    @classmethod
    def open(cls, board: str | None = None, *, create: bool = False, **flags: object) -> Self:
        """The board of the working folder's project, or the one in this file.

        Settings can be given as `section__key`, for instance `search__limit=10`.
        """
        place = located(board=board, flags={k.replace("__", "."): v for k, v in flags.items()})
        return cls.at(place, create=create)

    @classmethod
    def at(cls, place: Located, *, create: bool = False, patience: float | None = None) -> Self:
        """The board at this place, with the settings that hold there.

        With `patience`, a database that is gone is given up after so many seconds.
        """
        blobs = open_blobs(place.blobs, os.environ)
        try:
            store = open_store(place.board, create=create, blobs=blobs, patience=patience)
        except BoardMissing as error:
            raise BoardMissing(error.message, place.how_to_make_it) from error
        return cls(store, place.settings, place)

    @property
    def embedder(self) -> Embedder | None:
        """What the settings ask for; None if this process is to embed nothing."""
        return self.models.own

    @embedder.setter
    def embedder(self, embedder: Embedder | None) -> None:
        self.models.own = embedder

    @staticmethod
    def boards_above() -> tuple[str, ...]:
        """The boards of the Pegboards that started this process, directly or not."""
        return tuple(filter(None, os.environ.get(BOARDS_ABOVE, "").split(os.pathsep)))

    def seen_by(self, caller: Caller) -> Self:
        """The same board for a caller: it tells and does only what that caller's rights allow.

        They are in the store, so that nothing can be asked around them. What runs tools, embeds
        and keeps sessions is shared. It is not closed by itself.
        """
        view = copy(self)
        view.__dict__.pop("running", None)
        view.caller, view.store = caller, self.store.seen_by(caller)
        if not caller.everywhere:
            view.trust = self.trust.seen_by(view.store)
            view.models = self.models.seen_by(view.store, view.trust)
            view.curate = Curating(view.store, self.models.target)
        return view

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        if self._whole is not self:
            return  # the board goes on without whoever looked at it
        if "running" in self.__dict__:
            self.running.close()
        self.upstream.close()
        self._beside.close()
        self.models.close()
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
        executable: bool = False,
        model: str | None = None,
        patience: Patience | None = None,
        split: bool = True,
    ) -> Answer:
        """The hits that fit, best first; if none does, `nearest` has the three that come closest.

        A question that has several requests is split, and `Answer.requests` has the answer to each.
        With `split=False` it is searched for as a whole.

        What is not given is taken from the settings. `threshold` is the least fit of the best hit;
        0 lets everything through. With `executable`, only tools that can be called now. `model` is
        one that the board has vectors of.
        """
        found = self.settings.search
        wanted = found.limit if limit is None else limit
        refuse_nonsense(wanted, threshold, mode)
        ask = Ask(
            text=query,
            mode=Mode(mode or found.mode),
            filters=self._bounded(filters or Filters(), executable),
            limit=wanted,
            threshold=threshold,
            diverse=diverse,
            explain=explain,
            split=split,
        )
        if patience is None and self.search_seconds is not None:
            patience = Patience(self.search_seconds)
        here = partial(self.find, ask, model, patience)
        answer = self.share(self.caller, ask, model, patience, here)
        self.on_search(ask.mode, answer)
        answer = answer._replace(notices=(*answer.notices, *self._trouble(executable)))
        if not self.caller.everywhere:
            answer = answer.with_notices(without_addresses)
        return answer.with_hits(self._as_believed)

    def requests(self, query: str, filters: Filters | None = None) -> tuple[str, ...]:
        """The requests of a question, as `search` answers them; itself if there is only one."""
        return requests_of(self.store, query, self._bounded(filters or Filters(), False))

    def _as_believed(self, hit: Hit) -> Hit:
        """What was signed with a key that was revoked since is marked, before it is judged anew."""
        if not hit.signer or hit.signed in ("", "revoked") or hit.signer not in self._revoked():
            return hit
        notes = dict.fromkeys((*hit.notes, "signature not trusted"))
        return hit._replace(signed="revoked", notes=tuple(notes))

    def _revoked(self) -> frozenset[str]:
        from pegboard.board.trust.keyring import Keyring

        try:
            known = Keyring(keyring_folder(self.settings)).trusted().values()
        except KeyUnusable:
            return frozenset()  # a search needs no list: whoever runs or syncs is told
        return frozenset(each.id for each in known if each.revoked_at)

    def find(self, ask: Ask, model: str | None = None, patience: Patience | None = None) -> Answer:
        """A search that is ready to be made: what is asked for is within what may be seen."""
        embedder, scale = self._whole.models.searching(model)
        settings = find_settings(self.settings.search, scale)
        return find_requests(
            self.store, embedder, ask, settings, beside=self._beside, patience=patience
        )

    def _trouble(self, executable: bool) -> list[str]:
        """What whoever asks may know of why something is not found."""
        allowed = self.within.namespaces if self.within else ()
        servers = self.servers() if executable else []
        told = self.upstream.missing(
            [each for each in servers if not allowed or each.config.namespace in allowed]
        )
        whole = self.caller.everywhere and not allowed
        return [*told, *(self._whole.trouble() if whole else ())]

    def _bounded(self, asked: Filters, executable: bool) -> Filters:
        if executable:
            asked = asked._replace(live=self._whole._live())
        return bounded(self.store, asked, self.within)

    def _live(self) -> tuple[str, ...]:
        """Servers that can be called now; where nobody has asked them yet, they are asked."""
        if not self.upstream.opened and (servers := list(self.upstream.configs())):
            try:
                self.sync(servers, embed=False)
            except BoardReadOnly:
                self.upstream.fetch(servers)
        self.upstream.ask_the_rest()
        self.upstream.starting(START_SECONDS)
        return self.upstream.live()

    def prepare_call(
        self,
        name: str,
        arguments: Json,
        *,
        timeout_seconds: float | None = None,
        on_progress: OnProgress | None = None,
        asker: Asker | None = None,
    ) -> "Call":
        """A call that may have to be approved. Raises if there is no such tool."""
        return self.running.prepare(
            name,
            arguments,
            self.within or Filters(),
            asker or Asker(),
            seconds=timeout_seconds,
            on_progress=on_progress,
        )

    def call(
        self,
        name: str,
        arguments: Json,
        *,
        timeout_seconds: float | None = None,
        approve: Callable[[str], bool] | None = None,
    ) -> CallResult:
        """Call a tool, `id@version` or just `id`, and wait for what it brings back.

        `approve` is asked where a person has to be; without it, such a call is denied.
        """
        return self.prepare_call(name, arguments, timeout_seconds=timeout_seconds).result(approve)

    @cached_property
    def running(self) -> "Running":
        """What runs tools; made with the first call."""
        with self._making:
            whole = self._whole
            made = whole.__dict__.get("running") or whole._make_running()
            whole.__dict__["running"] = made
        return made if whole is self else made.seen_by(self.store, self.caller)

    def _make_running(self) -> "Running":
        place = (self._project, self._tiers)
        made = runners.make_running(self.store, self.settings, self.upstream, place, os.environ)
        made.on_end = self.on_call
        return made

    @property
    def tokens(self) -> "BoardTokens":
        """By which the board is asked over the network."""
        from pegboard.board.trust.tokens import BoardTokens

        return BoardTokens(self.store)

    @property
    def releases(self) -> "Releasing":
        """What is published here: its versions, and what is decided about them."""
        from pegboard.board.publish.releasing import Releasing

        return Releasing(
            self.store,
            lambda: sealing_of(self.settings, (Tier.REGISTRY,)).seal,
            self.models.target,
            lambda namespace: place_for(self.caller, namespace, self.within),
            "" if self.caller.everywhere else self.caller.subject,
        )

    def create(
        self,
        draft: "Draft",
        *,
        anyway: bool = False,
        try_with: Json | None = None,
        namespace: str = "",
    ) -> "Created":
        """Hang a tool that was made just now, unless one for the same is there already.

        It is its caller's, and hangs in the first namespace that is open to him, or in another.
        """
        from pegboard.board.create.making import Making

        place = place_for(self.caller, namespace, self.within)
        gate = sealing_of(self.settings, self._tiers)
        allowed = self.settings.serve.lent
        making = Making(
            self.store, gate, self.search, self.models.target, self.running.trial, allowed
        )
        return making.make(draft, place, anyway=anyway, try_with=try_with)
