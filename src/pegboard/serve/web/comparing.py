"""Two versions of an item beside one another."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pegboard.board.describe.comparing_versions import Pair, pairs
from pegboard.serve.web.differences import Difference, Effort, difference
from pegboard.serve.web.items import chosen
from pegboard.serve.web.paths import item_path
from pegboard.serve.web.shelves import compare_path
from pegboard.serve.web.visits import Visit, page

MOST_FILES = 100
MOST_NUMBERS = 200
LARGEST_COMPARED = 400_000
"""Characters of both sides of a file that is compared."""


class FileView(NamedTuple):
    path: str
    state: str
    binary: bool
    difference: Difference | None


def compare(visit: Visit) -> Response:
    """Two versions beside one another; those that are not named are the latest two."""
    item = chosen(visit, visit.request.path_params["id"], files=False).item
    name, releases = item.reference, visit.board.releases
    shelf = releases.shelf(name)
    numbers = [each.number for each in shelf.versions]
    new = visit.query.get("to") or shelf.latest or (numbers[0] if numbers else "")
    old = visit.query.get("from") or _before(numbers, new)
    found = pairs(releases.version(name, old), releases.version(name, new))
    effort = Effort()
    return page(
        visit,
        "compare.html",
        "",
        name=item.name,
        path=item_path(item.namespace, item.id),
        here=compare_path(item.namespace, item.id),
        old=old,
        new=new,
        numbers=tuple(numbers[:MOST_NUMBERS]),
        files=tuple(_file(each, effort) for each in found[:MOST_FILES]),
        left_out=max(len(found) - MOST_FILES, 0),
    )


def _before(numbers: Sequence[str], number: str) -> str:
    following = [*numbers, number][numbers.index(number) + 1 :] if number in numbers else [number]
    return following[0]


def _file(pair: Pair, effort: Effort) -> FileView:
    before, after = pair.before or "", pair.after or ""
    large = len(before) + len(after) > LARGEST_COMPARED
    if pair.binary or pair.state == "mode" or large:
        return FileView(pair.path, pair.state, pair.binary, None)
    found = difference(pair.path, before, after, effort)
    return FileView(pair.path, pair.state, False, found if found.lines else None)
