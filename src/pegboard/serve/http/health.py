"""`/healthz`, `/readyz` and `/metrics`: for whoever keeps the gateway running."""

import asyncio
import time
from collections.abc import Sequence
from functools import partial

from starlette.requests import HTTPConnection
from starlette.responses import Response

from pegboard.app.pegboard import Pegboard
from pegboard.board.maintain.models import TRIAL
from pegboard.errors import NotAllowed, PegboardError
from pegboard.model.calls import Role
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.measuring import of_board
from pegboard.serve.http.metrics import MEDIA_TYPE, Family, exposition, gauge
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route

KEPT_SECONDS = 1.0
"""How long it counts what was found: asking often must not be work for the board."""
PATIENCE_SECONDS = 3.0
"""In which a board, or a model, that is well has answered."""
METRICS_SECONDS = 6.0
"""The same for all that metrics tell of a board. Prometheus waits for ten, unless it is told."""
WELL_SECONDS = 60.0
ILL_SECONDS = 5.0
"""After which a model is tried again that was well, or was not."""

STOPPING = "stopping"
BOARD_SLOW = "board_slow"
BOARD_UNAVAILABLE = "board_unavailable"
MODEL_SLOW = "model_slow"
MODEL_UNAVAILABLE = "model_unavailable"


async def alive(asked: Asked) -> Response:
    return reply({"status": "ok"})


async def ready(asked: Asked) -> Response:
    """Why it is not ready is told by a code alone: anybody may ask.

    Without its model it still finds by words. A model of a service is away for all gateways at
    once, and if all of them were taken out of use for that, nothing would be found.
    """
    why = await readiness_of(asked.request).why_not()
    if set(why) - {MODEL_SLOW, MODEL_UNAVAILABLE}:
        return reply({"status": "not_ready", "reasons": why}, 503)
    return reply({"status": "degraded", "reasons": why} if why else {"status": "ready"})


class Readiness:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._asking = asyncio.Lock()
        self._until = 0.0
        self._found: list[str] = []
        self._trial: asyncio.Future[bool] | None = None
        self._next_trial = 0.0

    async def why_not(self) -> list[str]:
        """Codes of what is wrong; however many ask, the board is asked once."""
        if self._gateway.stopping.is_set():
            return [STOPPING]
        async with self._asking:
            if time.monotonic() >= self._until:
                self._found = await self._board() or await self._model()  # which may ask the board
                self._until = time.monotonic() + KEPT_SECONDS
            return self._found

    async def _board(self) -> list[str]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._gateway.threads.run_slow(self._gateway.board.knock)
        except TimeoutError:
            return [BOARD_SLOW]
        except PegboardError:
            return [BOARD_UNAVAILABLE]
        return []

    async def _model(self) -> list[str]:
        """One trial at a time, and not often: it may cost money, or hang."""
        now = time.monotonic()
        if self._trial is None or (self._trial.done() and now >= self._next_trial):
            trial = partial(_model_is_well, self._gateway.board)
            self._trial = asyncio.ensure_future(self._gateway.threads.run_slow(trial))
        await asyncio.wait([self._trial], timeout=PATIENCE_SECONDS)
        if not self._trial.done():
            return [MODEL_SLOW]
        well = self._trial.exception() is None and self._trial.result()
        if self._next_trial <= now:
            self._next_trial = now + (WELL_SECONDS if well else ILL_SECONDS)
        return [] if well else [MODEL_UNAVAILABLE]


def readiness_of(request: HTTPConnection) -> Readiness:
    state = request.app.state
    if not hasattr(state, "readiness"):
        state.readiness = Readiness(state.gateway)
    found: Readiness = state.readiness
    return found


def _model_is_well(board: Pegboard) -> bool:
    """A model that is not wanted is not missed. So what searches by meaning need is loaded, too."""
    try:
        embedder, _ = board.models.searching()
        if embedder is not None:
            embedder.embed_query(TRIAL)
    except PegboardError:
        return False
    return True


async def tell_metrics(asked: Asked) -> Response:
    if not asked.caller.everywhere:
        raise NotAllowed(
            "metrics are about the whole board, and you are an admin of some namespaces",
            "use a token of an admin without namespaces",
        )
    gateway: Gateway = asked.request.app.state.gateway
    try:
        async with asyncio.timeout(METRICS_SECONDS):
            found = await asked.threads.run_slow(partial(_of_board, asked.board))
    except TimeoutError:
        found = []
    up = gauge("pegboard_board_up", "Whether the board answers.", float(bool(found)))
    families = [*gateway.measures.families(), up, *found]
    return Response(exposition(families), media_type=MEDIA_TYPE)


def _of_board(board: Pegboard) -> Sequence[Family]:
    """Nothing if it cannot tell."""
    try:
        return [*of_board(board.status(), board.now())]
    except PegboardError:
        return []


GROUP = "health"
ALIVE = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
READY = {
    "type": "object",
    "properties": {
        "status": {"enum": ["ready", "degraded", "not_ready"]},
        "reasons": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["status"],
}
ROUTES = (
    Route(
        "GET",
        "/healthz",
        "alive",
        "Whether the process answers.",
        alive,
        role=None,
        answer=ALIVE,
        group=GROUP,
    ),
    Route(
        "GET",
        "/readyz",
        "ready",
        "Whether the board answers, 503 if not; degraded while its model cannot be used.",
        ready,
        role=None,
        answer=READY,
        statuses=(200, 503),
        group=GROUP,
    ),
    Route(
        "GET",
        "/metrics",
        "metrics",
        "Numbers about requests, searches, calls and the board, for Prometheus.",
        tell_metrics,
        role=Role.ADMIN,
        answer={"type": "string"},
        media_type=MEDIA_TYPE,
        group=GROUP,
    ),
)
