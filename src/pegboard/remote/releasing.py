"""Releases at a gateway, with the methods of `board.publish.releasing` for a board that is here.

Publishing what is there already changes nothing. So whoever lost the connection in the middle, and
cannot know how far the gateway came, publishes once more.
"""

import base64
import time
from collections.abc import Callable, Sequence

from pegboard.board.publish.releasing import Parcel, Publication, Shelf, packed
from pegboard.errors import BoardUnreachable, TookTooLong
from pegboard.gate.characters import visible
from pegboard.gate.refusal import Refused
from pegboard.gate.releases import Record, read_record
from pegboard.gate.side_files import canonical
from pegboard.model.content import Version
from pegboard.model.releases import AuditLine, Decision
from pegboard.remote.asking import Gateway, in_path, of_item
from pegboard.remote.connection import Answered, Request
from pegboard.remote.faults import error_of
from pegboard.remote.items import whole_file

PUBLISH_SECONDS = 600.0
BUSY = "busy"
TRIES = 10
WAIT_SECONDS = 1.0
ZIP = "application/zip"
AGAIN = (
    "it may have been published or not; publish it again: if it was, nothing changes"
    " (or see: pegboard versions)"
)


class RemoteReleasing:
    """Who publishes and decides is who the token is of, whatever name is said here."""

    def __init__(self, gateway: Gateway, wait: Callable[[float], None] = time.sleep) -> None:
        self._gateway = gateway
        self._wait = wait

    def publish(
        self,
        parcel: Parcel,
        *,
        by: str = "",
        visibility: str = "",
        team: bool = False,
        dry_run: bool = False,
    ) -> Publication:
        body: dict[str, object] = {
            "bundle": base64.b64encode(parcel.bundle).decode(),
            "signature": parcel.side_file.decode("utf-8", "replace"),
            "team": team,
            "dry_run": dry_run,
        }
        if visibility:
            body["visibility"] = visibility
        request = Request(
            "POST", "/releases", body=body, seconds=PUBLISH_SECONDS, accepted=(409, 422)
        )
        try:
            told = self._in_turn(request).value
        except (BoardUnreachable, TookTooLong) as error:
            error.hint = f"{AGAIN}; {error.hint}" if error.hint else AGAIN
            raise
        # The code of a problem stands where a refusal has its own.
        if isinstance(told, dict) and "status" in told and told.get("state") != "refused":
            raise error_of(_status(told), told)
        return self._gateway.value(Publication, told)

    def _in_turn(self, request: Request) -> Answered:
        """Once more where too many want the same at a time; nothing was begun then."""
        for _ in range(TRIES - 1):
            answered = self._gateway.ask(request._replace(taken=(BUSY,)))
            if answered.code != BUSY:
                return answered
            self._wait(WAIT_SECONDS)
        return self._gateway.ask(request)

    def shelf(self, name: str) -> Shelf:
        return self._gateway.value(Shelf, self._gateway.get(of_item(name, "/versions")))

    def parcel(self, name: str, number: str, *, count: bool = True) -> Parcel:
        """A version to be taken away, exactly as the gateway says that it is."""
        if count:
            path = of_item(name, f"/versions/{in_path(number)}/bundle")
            bundle = self._in_turn(Request("GET", path, media=ZIP, seconds=PUBLISH_SECONDS))
            told = self._told(name, number)
            side_file = self._gateway.value(str, told.get("signature")).encode()
            content = bundle.value if isinstance(bundle.value, bytes) else b""
            parcel = Parcel(content, side_file)
            if f'"{parcel.sha256}"' != bundle.etag:
                raise self._other_bundle()
        else:
            told = self._told(name, number, files=True)
            parcel = packed(self._version(told))
        if parcel.sha256 != told.get("bundle"):
            raise self._other_bundle()
        back = told.get("yanked_at") is not None
        why = visible(str(told.get("yank_reason") or "no reason was given")) if back else ""
        return parcel._replace(yanked=why)

    def _other_bundle(self) -> BoardUnreachable:
        return BoardUnreachable(
            f"{self._gateway.address} sent another bundle than it says, or not all of it",
            "try it again; if that does not help, do not trust it",
        )

    def version(self, name: str, number: str) -> Version:
        return self._version(self._told(name, number or "latest", files=True))

    def _version(self, told: dict[str, object]) -> Version:
        files = told.get("files")
        record = told.get("record")
        return self._gateway.value(
            Version,
            {
                **told,
                "version": told.get("number"),
                "files": [*map(whole_file, files)] if isinstance(files, list) else files,
                "release": self._record(record).text if record is not None else "",
                "side_file": told.get("signature"),
            },
        )

    def _record(self, told: object) -> Record:
        try:
            return read_record(canonical({"pegboard": 1, **told} if isinstance(told, dict) else {}))
        except Refused as refused:
            raise self._gateway.not_understood(refused.reason) from refused

    def _told(self, name: str, number: str, *, files: bool = False) -> dict[str, object]:
        """As it is written there: a signature is over every byte."""
        query = [("files", "true")] if files else []
        path = of_item(name, f"/versions/{in_path(number)}")
        told = self._gateway.ask(Request("GET", path, query, raw=True)).value
        if not isinstance(told, dict):
            raise self._gateway.not_understood("the answer is no object")
        return told

    def yank(self, name: str, number: str, *, yanked: bool, reason: str, by: str = "") -> bool:
        what = "yank" if yanked else "unyank"
        path = of_item(name, f"/versions/{in_path(number)}/{what}")
        told = self._gateway.post(path, {"reason": reason} if yanked else None)
        return self._gateway.value(bool, told.get("changed") if isinstance(told, dict) else None)

    def decide(self, name: str, decision: Decision, by: str = "") -> Shelf:
        said = {field: value for field, value in decision._asdict().items() if value is not None}
        request = Request("PATCH", of_item(name, "/release"), body=said)
        return self._gateway.value(Shelf, self._gateway.ask(request).value)

    def audit(self, name: str | None = None, limit: int = 100) -> Sequence[AuditLine]:
        found = self._gateway.get("/audit", ("id", name), ("limit", limit))
        return self._gateway.listed(AuditLine, found, "audit")


def _status(told: dict[str, object]) -> int:
    found = told.get("status")
    return found if isinstance(found, int) else 500
