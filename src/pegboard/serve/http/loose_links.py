"""`/links`: links of all items that lead nowhere."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pegboard.model.curation import LooseLink
from pegboard.serve.http.items import in_thread
from pegboard.serve.http.replies import reply
from pegboard.serve.http.table import Asked, Route


class LooseLinks(NamedTuple):
    links: Sequence[LooseLink]


def get_loose_links(asked: Asked) -> Response:
    return reply(LooseLinks(asked.board.curate.loose_links()))


ROUTES = (
    Route(
        "GET",
        "/links",
        "list_loose_links",
        "Links of active items that lead to no active one.",
        in_thread(get_loose_links),
        answer=LooseLinks,
        group="items",
    ),
)
