"""The board at hand as an agent is served it: with what the other tiers have beside it."""

import json
import threading
from concurrent.futures import Future
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from pegboard.app.pegboard import Pegboard
from pegboard.board.describe.versions import LATEST, split
from pegboard.board.find.patience import settle
from pegboard.errors import PegboardError
from pegboard.gate.characters import visible
from pegboard.model.answers import Answer
from pegboard.model.calls import Asker, CallResult, OnProgress, Outcome
from pegboard.model.content import Json
from pegboard.model.items import Entry
from pegboard.remote.board import RemoteBoard
from pegboard.remote.running import RemoteCall
from pegboard.tiers.searching import Tiers, refuse_foreign_service

if TYPE_CHECKING:
    from pegboard.board.run.calling import Call

AGENTS = "run.agents"


class TieredBoard(Pegboard):
    """Searches, describes and calls on the tiers that the settings name; keeps its own board."""

    @cached_property
    def tiers(self) -> Tiers:
        return Tiers(self)

    @property
    def _tier(self) -> str:
        return self.settings.search.tier

    def close(self) -> None:
        if "tiers" in self.__dict__:
            self.tiers.close()
        super().close()

    def search(self, query: str, **asked: Any) -> Answer:  # noqa: ANN401 (as a board takes them)
        return self.tiers.search(query, **asked)

    def show(self, name: str) -> Entry:
        return self.tiers.held(name, self._tier).entry

    def prepare_call(
        self,
        name: str,
        arguments: Json,
        *,
        timeout_seconds: float | None = None,
        on_progress: OnProgress | None = None,
        asker: Asker | None = None,
    ) -> "Call":
        base, number = split(name)
        held = self.tiers.held(base, self._tier)
        refuse_foreign_service(held)
        said = {"timeout_seconds": timeout_seconds, "on_progress": on_progress, "asker": asker}
        if held.board is self:
            return super().prepare_call(name, arguments, **cast(Any, said))
        item = held.entry.item
        whole = item.reference + ("" if number == LATEST else f"@{number}")
        if isinstance(held.board, RemoteBoard):
            call = held.board.prepare_call(whole, arguments, timeout_seconds=timeout_seconds)
            agents = self.settings.run.agents if asker and asker.agent else "allow"
            return cast("Call", GatewayCall(call, whole, arguments, agents))
        return held.board.prepare_call(whole, arguments, **cast(Any, said))


class GatewayCall:
    """A call of a tool behind the registry's gateway, which runs it, as an agent's face makes one.

    What this person has decided about agents counts here all the same.
    """

    def __init__(self, call: RemoteCall, name: str, arguments: Json, agents: str) -> None:
        self._call = call
        self._name = name
        self._agents = agents
        self._said = json.dumps(dict(arguments), ensure_ascii=False, default=str)

    @property
    def question(self) -> str:
        if self._agents == "deny":
            return ""
        if self._agents == "ask":
            said = f"Run {self._name} at the registry? Consider: an agent calls it."
            return visible(f"{said} It would be given: {self._said[:600]}")
        return self._call.question

    @property
    def mark(self) -> str:
        return f"{self._name} {self._said}"

    def start(self, *, approved: bool = False, refusal: str = "") -> "Future[CallResult]":
        """In a thread; cancelling the future gives it up."""
        made: Future[CallResult] = Future()
        if self._agents == "deny" or (self._agents == "ask" and not approved):
            why = "it is not to be called by agents" if self._agents == "deny" else refusal
            said = f"{self._name} was not run: {why}\n  it is decided by {AGENTS} in your settings"
            made.set_result(CallResult(Outcome.DENIED, error=said))
            return made
        yes = approved and self._agents != "ask"  # else it was another question
        threading.Thread(target=settle, args=(made, partial(self._made, yes)), daemon=True).start()
        return made

    def _made(self, yes: bool) -> CallResult:
        try:
            return self._call.result((lambda _: True) if yes else None)
        except PegboardError as error:
            return CallResult(Outcome.UNAVAILABLE, error=str(error))
