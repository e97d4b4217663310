"""The versions of a published item, as its page shows them."""

from typing import NamedTuple
from urllib.parse import quote

from pegboard.app.pegboard import Pegboard
from pegboard.board.publish.releasing import Shelf
from pegboard.gate.signatures import Trusted
from pegboard.model.content import VersionLine
from pegboard.model.items import PUBLISHED, Entry, qualified
from pegboard.serve.web.facts import size_text
from pegboard.serve.web.moments import Moment, moment
from pegboard.serve.web.paths import quoted, with_query
from pegboard.serve.web.registry import replacement_path
from pegboard.serve.web.signers import signers_of, worth

MOST_VERSIONS = 50


class ReleaseView(NamedTuple):
    number: str
    at: Moment | None
    by: str
    signer: str
    state: str
    tone: str
    """What the signature is worth by now."""
    changelog: str
    latest: bool
    back: Moment | None
    """When it was taken back, if it was."""
    back_by: str
    back_reason: str
    size: str
    downloads: str
    bundle: str
    side_file: str
    compared: str
    """Where this stands beside the version before it; empty for the first."""


class ShelfView(NamedTuple):
    owner: str
    visibility: str
    deprecated: bool
    replacement: str
    replacement_path: str
    versions: tuple[ReleaseView, ...]
    left_out: int


def shelf_of(board: Pegboard, entry: Entry) -> ShelfView | None:
    """None for what is not published."""
    item = entry.item
    if item.source != PUBLISHED:
        return None
    shelf = board.releases.shelf(item.reference)
    shown = shelf.versions[:MOST_VERSIONS]
    signers = signers_of(board)
    return ShelfView(
        shelf.author,
        shelf.visibility,
        shelf.deprecated,
        shelf.replacement,
        replacement_path(item),
        tuple(
            _view(shelf, each, before, signers)
            for each, before in zip(shown, [*shelf.versions[1:], None], strict=False)
        ),
        len(shelf.versions) - len(shown),
    )


def _view(
    shelf: Shelf, line: VersionLine, before: VersionLine | None, signers: Trusted | None
) -> ReleaseView:
    place = f"/items/{quoted(shelf.reference)}/versions/{quote(line.number, safe='')}"
    signed = worth(signers, line.signer, shelf.namespace)
    return ReleaseView(
        number=line.number,
        at=moment(line.created_at),
        by=line.published_by,
        signer=signed.signer,
        state=signed.said,
        tone=signed.tone,
        changelog=line.changelog,
        latest=line.number == shelf.latest,
        back=moment(line.yanked_at),
        back_by=line.yanked_by,
        back_reason=line.yank_reason,
        size=size_text(line.size_bytes),
        downloads=f"{line.download_count:,}",
        bundle=f"{place}/bundle",
        side_file=f"{place}/signature",
        compared=compared_path(shelf, before.number, line.number) if before else "",
    )


def compared_path(shelf: Shelf, old: str, new: str) -> str:
    return with_query(compare_path(shelf.namespace, shelf.id), [("from", old), ("to", new)])


def compare_path(namespace: str, item_id: str) -> str:
    return f"/ui/compare/{quoted(qualified(namespace, item_id))}"
