"""A call of a tool behind a gateway. To give it up ends it there: the connection is gone."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pegboard.errors import ChangedMeanwhile
from pegboard.model.calls import Artifact, CallResult, Outcome
from pegboard.model.content import Json
from pegboard.remote.asking import Gateway, of_item
from pegboard.remote.connection import Answered, Request

LONGEST_CALL = 3_600.0
"""Seconds that a gateway lets a call take, unless it is set otherwise."""
ON_THE_WAY = 60.0
NEEDED = "approval_needed"
ENDS = {
    "invalid_arguments": Outcome.INVALID_ARGUMENTS,
    "denied": Outcome.DENIED,
    "unavailable": Outcome.UNAVAILABLE,
}
"""How calls end that are not made: to a gateway these are problems, to whoever calls results."""


class Called(NamedTuple):
    id: str


class RemoteCall:
    """Made when it is first looked at; if somebody has to approve it, made again with the yes."""

    def __init__(self, gateway: Gateway, name: str, arguments: Json, seconds: float | None) -> None:
        self._gateway = gateway
        self._name = name
        self._arguments = arguments
        self._seconds = seconds
        self._first: Answered | None = None
        self.item = Called(name)

    @property
    def question(self) -> str:
        """What a person has to say yes to before it is made; empty if nobody has to be asked."""
        if self._first is None:
            self._first = self._sent()
        return str(self._first.value.get("question", "")) if self._first.code == NEEDED else ""

    def result(self, approve: Callable[[str], bool] | None = None) -> CallResult:
        question, first = self.question, self._first
        if first is None or first.code != NEEDED:
            return self._result(first or Answered({}))
        if approve is None or not approve(question):
            why = "it was not approved" if approve else "nobody was there to approve it"
            return CallResult(Outcome.DENIED, error=f"{self._name} was not run: {why}")
        answered = self._sent(str(first.value.get("mark", "")))
        if answered.code == NEEDED:
            raise ChangedMeanwhile(
                f"{self._name} is no longer what was approved", "run it again, and look anew"
            )
        return self._result(answered)

    def _sent(self, mark: str = "") -> Answered:
        body: dict[str, object] = {"arguments": dict(self._arguments)}
        body |= {"timeout_seconds": self._seconds} if self._seconds else {}
        body |= {"approve": mark} if mark else {}
        return self._gateway.ask(
            Request(
                "POST",
                of_item(self._name, "/call"),
                body=body,
                seconds=(self._seconds or LONGEST_CALL) + ON_THE_WAY,
                taken=(NEEDED, *ENDS),
                raw=True,
            )
        )

    def _result(self, answered: Answered) -> CallResult:
        told = answered.value if isinstance(answered.value, dict) else {}
        if answered.code:
            said = [str(told[name]) for name in ("detail", "hint") if told.get(name)]
            return CallResult(ENDS[answered.code], error="\n  ".join(said))
        self.item = Called(str(told.get("id", self._name)))
        return call_result(self._gateway, told)


def call_result(gateway: Gateway, told: Mapping[str, object]) -> CallResult:
    """How a call ended, as it was told; of files that were too large to be sent, that they were."""
    said = told.get("artifacts", [])
    files = [each for each in said if isinstance(each, dict)] if isinstance(said, list) else []
    result = gateway.value(CallResult, {**told, "artifacts": []})
    made, left = [], []
    for each in files:
        content = _bytes(each.get("base64"))
        name, media = str(each.get("name", "")), str(each.get("media_type", ""))
        if content is None:
            left.append(f"note: {name} stayed at the gateway: too large to be sent")
        else:
            made.append(Artifact(name, media, content))
    logs = "\n".join(filter(None, (result.logs, *left)))
    return result._replace(artifacts=tuple(made), logs=logs)


def _bytes(said: object) -> bytes | None:
    try:
        return base64.b64decode(said, validate=True) if isinstance(said, str) else None
    except binascii.Error:
        return None
