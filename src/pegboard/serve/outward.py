"""Errors as those outside are told of them: not where the board is, nor what it asks itself."""

import logging
from typing import NamedTuple

from pegboard.errors import BoardError, BoardUnreachable, EmbeddingError, PegboardError
from pegboard.formats.addresses import without_addresses, without_paths

log = logging.getLogger(__name__)

LATER = "try again in a moment; whoever runs this finds the reason in its log"


class Said(NamedTuple):
    message: str
    hint: str


def outward(error: PegboardError) -> Said:
    if isinstance(error, BoardUnreachable):  # a database tells of its host in many ways
        log.warning("%s", error)
        return Said(BoardUnreachable().message, LATER)
    if not isinstance(error, BoardError | EmbeddingError):
        return Said(error.message, error.hint)
    said = Said(_inner_hidden(error.message), _inner_hidden(error.hint))
    if said != (error.message, error.hint):
        log.warning("%s", error)
    return said


def _inner_hidden(text: str) -> str:
    return without_paths(without_addresses(text))
