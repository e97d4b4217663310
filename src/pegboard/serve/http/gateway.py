"""What the gateway has while it serves: the board, who may do what, and threads to ask it in."""

from collections import OrderedDict
from typing import Protocol

from starlette.requests import HTTPConnection

from pegboard.app import Pegboard
from pegboard.calls import Caller
from pegboard.serve.table import Threads

MOST_VIEWS = 1_000


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
        self._views: OrderedDict[Caller, Pegboard] = OrderedDict()

    def board_for(self, caller: Caller) -> Pegboard:
        """The board as this caller may see it. Called in the event loop alone."""
        view = self._views.pop(caller, None) or self.board.seen_by(caller)
        self._views[caller] = view
        if len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return view
