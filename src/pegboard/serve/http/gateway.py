"""What the gateway has while it serves: the board, who may do what, and threads to ask it in."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.requests import HTTPConnection

from pegboard.app.pegboard import Pegboard
from pegboard.errors import BoardReadOnly
from pegboard.model.calls import Caller
from pegboard.serve.http.jobs import Jobs
from pegboard.serve.http.measuring import Measures
from pegboard.serve.http.news import News
from pegboard.serve.threads import Threads

log = logging.getLogger(__name__)

MOST_VIEWS = 1_000
GATEWAY = "gateway"
"""In whose name is written down what the gateway finds to be so."""


class SignIn(Protocol):
    """Tells who asks."""

    async def caller(self, connection: HTTPConnection) -> Caller:
        """Raises `NotSignedIn` for whoever has no token, or none that is good."""
        ...


class Gateway:
    def __init__(self, board: Pegboard, sign_in: SignIn) -> None:
        self.board = board
        self.sign_in = sign_in
        self.threads = Threads()
        self.jobs = Jobs(self.threads)
        self.measures = Measures()
        self.news = News()
        """Is rung when the board may have changed."""
        self.stopping = asyncio.Event()
        """Set when it is to stop: what would go on for ever ends by itself."""
        self.at_stop: list[Callable[[], None]] = []
        """What is done when it is to stop."""
        self.at_end: list[Callable[[], Awaitable[None]]] = []
        """What has to be closed before the board is."""
        self._views: OrderedDict[Caller, Pegboard] = OrderedDict()
        board.search_seconds = board.settings.serve.search_seconds
        board.on_search = self.measures.searched
        board.on_call = self.measures.called

    def board_for(self, caller: Caller) -> Pegboard:
        """The board as this caller may see it. Called in the event loop alone."""
        view = self._views.pop(caller, None) or self.board.seen_by(caller)
        self._views[caller] = view
        if len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return view

    def note_trust(self) -> None:
        """Write down whom the board believes, if that has changed. A board that is only read says
        nothing of it."""
        try:
            self.board.releases.note_trust(GATEWAY)
        except BoardReadOnly:
            log.info("whom this board believes is not written down: it is only read")

    def board_changed(self) -> None:
        """May be called from any thread, and as often as one likes."""
        self.news.ring()

    def stop(self) -> None:
        """No more is begun; what is in hand is finished."""
        self.stopping.set()
        for each in self.at_stop:
            each()

    async def close(self) -> None:
        for each in self.at_end:
            await each()
