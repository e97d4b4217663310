"""Errors as those outside are told of them: not where the board is, nor what it asks itself."""

import logging
from typing import NamedTuple

from pegboard.errors import BoardError, BoardUnreachable, EmbeddingError, PegboardError
from pegboard.formats.addresses import without_addresses

log = logging.getLogger(__name__)

LATER = "try again in a moment; whoever runs this finds the reason in its log"


class Said(NamedTuple):
    message: str
    hint: str


def outward(error: PegboardError) -> Said:
    if isinstance(error, BoardUnreachable):  # a database tells of its host in many ways
        log.warning("%s", error)
        return Said(BoardUnreachable().message, LATER)
    if isinstance(error, BoardError | EmbeddingError):
        return Said(without_addresses(error.message), without_addresses(error.hint))
    return Said(error.message, error.hint)
