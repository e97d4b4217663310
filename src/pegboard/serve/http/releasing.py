"""What is published, taken back and decided about; and the log of that, which is only read."""

import base64
import binascii
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal, NamedTuple
from urllib.parse import quote

from pydantic import ConfigDict, Field
from starlette.responses import Response

from pegboard.board.publish.releasing import Parcel, Publication, Shelf
from pegboard.errors import UsageError
from pegboard.model.calls import Role
from pegboard.model.items import Visibility
from pegboard.model.releases import AuditLine, Decision
from pegboard.serve.http.gateway import Gateway
from pegboard.serve.http.items import both, chosen, in_thread
from pegboard.serve.http.paging import Limit
from pegboard.serve.http.problems import OTHERS, told
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Flag, Respond, Route, Wanted

LARGEST_SIGNATURE = 1 << 20
LONGEST_REASON = 2_000
LONGEST_NAME = 500

Seen = Literal["public", "unlisted", "private"]


class PublishBody(Wanted):
    bundle: Annotated[
        str,
        Field(pattern="^[A-Za-z0-9+/]*={0,2}$", description="The ZIP archive, in base64."),
    ]
    signature: Annotated[
        str, Field(max_length=LARGEST_SIGNATURE, description="What its side file says.")
    ]
    visibility: Annotated[
        Seen | None,
        Field(description="Of a new item; without it, as its manifest says, or public."),
    ] = None
    team: Annotated[
        Flag, Field(description="Whether a new item belongs to all authors of its namespace.")
    ] = False
    dry_run: Annotated[Flag, Field(description="Only say what would become of it.")] = False

    def parcel(self) -> Parcel:
        try:
            bundle = base64.b64decode(self.bundle, validate=True)
        except (binascii.Error, ValueError) as error:
            raise UsageError(f"bundle is not base64: {error}", "encode the archive") from error
        return Parcel(bundle, self.signature.encode("utf-8", "replace"))


class YankBody(Wanted):
    reason: Annotated[
        str, Field(max_length=LONGEST_REASON, description="Why, for whoever still asks for it.")
    ] = ""


class DecisionBody(Wanted):
    """What is to be another; null leaves it as it is."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    visibility: Seen | None = None
    owner: Annotated[
        str | None,
        Field(max_length=LONGEST_NAME, description="Whom it is given to: a subject, or @namespace"),
    ] = None
    deprecated: Flag | None = None
    replacement: Annotated[
        str | None,
        Field(max_length=LONGEST_NAME, description="What to use instead; empty for nothing."),
    ] = None

    def decision(self) -> Decision:
        if not self.model_fields_set:
            raise UsageError(
                "the body says nothing that is to change",
                f"it takes {', '.join(type(self).model_fields)}",
            )
        return Decision(
            visibility=Visibility(self.visibility) if self.visibility else None,
            owner=self.owner,
            deprecated=self.deprecated,
            replacement=self.replacement,
        )


class AuditQuery(Wanted):
    id: Annotated[
        str,
        Field(max_length=LONGEST_NAME, description="Only of this one: an id, or `namespace/id`."),
    ] = ""
    limit: Limit = 100


class Yanked(NamedTuple):
    changed: bool
    """Whether it was otherwise before."""
    latest: str
    """The version that hangs on the board now; empty if none is left."""


class Audit(NamedTuple):
    audit: Sequence[AuditLine]


async def publish(asked: Asked) -> Response:
    # To the end: whoever published must be able to know what became of it.
    return await asked.threads.run_to_end(partial(_publish, asked))


def _publish(asked: Asked) -> Response:
    said: PublishBody = asked.body
    gateway: Gateway = asked.request.app.state.gateway
    gateway.note_trust()
    done = asked.board.releases.publish(
        said.parcel(),
        by=asked.caller.subject,
        visibility=said.visibility or "",
        team=said.team,
        dry_run=said.dry_run,
    )
    gateway.measures.publishes.add(done.state)
    if done.state == "refused":
        return _refused(done)
    place = f"/items/{quote(f'{done.namespace}/{done.id}', safe=':')}/versions/{done.version}"
    headers = {} if said.dry_run else {"Location": place}
    return reply(done, 201 if done.state == "published" else 200, headers)


def _refused(done: Publication) -> Response:
    """With the code of the gate, and all that is known of what was to be published."""
    message = f"{done.namespace}/{done.id} {done.version} was refused: {done.reason}"
    more = {name: each for name, each in done._asdict().items() if name != "code"}
    return told(OTHERS.get(done.code, 422), done.code or "refused", message, more=more)


def _yanking(*, yanked: bool) -> Respond:
    async def respond(asked: Asked) -> Response:
        return await asked.threads.run_to_end(partial(_yank, asked, yanked=yanked))

    return respond


def _yank(asked: Asked, *, yanked: bool) -> Response:
    item = chosen(asked).item
    name, releases = item.reference, asked.board.releases
    changed = releases.yank(
        name,
        asked.path["version"],
        yanked=yanked,
        reason=asked.body.reason if yanked else "",
        by=asked.caller.subject,
    )
    return reply(Yanked(changed, releases.shelf(name).latest))


def decide(asked: Asked) -> Response:
    item = chosen(asked).item
    name = item.reference
    return reply(asked.board.releases.decide(name, asked.body.decision(), asked.caller.subject))


def get_audit(asked: Asked) -> Response:
    said: AuditQuery = asked.query
    return reply(Audit(asked.board.releases.audit(said.id or None, said.limit)))


ROUTES = (
    Route(
        "POST",
        "/releases",
        "publish_release",
        "Publish a version of an item: a bundle, and the signature of it.",
        publish,
        role=Role.AUTHOR,
        body=PublishBody,
        answer=Publication,
        statuses=(200, 201),
        group="releases",
        problems=(409, 422),
    ),
    *both(
        Route(
            "POST",
            "/items/{id}/versions/{version}/yank",
            "yank_item_version",
            "Take a version back: it is had only by its exact number then.",
            _yanking(yanked=True),
            role=Role.AUTHOR,
            body=YankBody,
            answer=Yanked,
            group="releases",
            problems=(409, 412),
        )
    ),
    *both(
        Route(
            "POST",
            "/items/{id}/versions/{version}/unyank",
            "unyank_item_version",
            "Offer a version again that was taken back.",
            _yanking(yanked=False),
            role=Role.AUTHOR,
            answer=Yanked,
            group="releases",
            problems=(409, 412),
        )
    ),
    *both(
        Route(
            "PATCH",
            "/items/{id}/release",
            "decide_item_release",
            "Decide who sees a published item, whose it is, and whether it is deprecated.",
            in_thread(decide),
            role=Role.AUTHOR,
            body=DecisionBody,
            answer=Shelf,
            group="releases",
            problems=(409,),
        )
    ),
    Route(
        "GET",
        "/audit",
        "list_audit",
        "What was published and decided, newest first. Nothing changes it.",
        in_thread(get_audit),
        role=Role.ADMIN,
        query=AuditQuery,
        answer=Audit,
        group="releases",
    ),
)
