"""A process that searches for a gateway: started by it, and ended when it has nothing to do."""

import logging
import sys
from contextlib import suppress
from functools import lru_cache
from multiprocessing.connection import Connection

from pegboard.app.pegboard import Pegboard
from pegboard.board.find.answering import Ask
from pegboard.board.find.patience import Patience
from pegboard.model.answers import Answer
from pegboard.serve.searchers import READY, Handed

log = logging.getLogger(__name__)

IDLE_SECONDS = 300.0
MOST_VIEWS = 1_000
MARGIN_SECONDS = 0.25
"""So much earlier it ends than those who wait for it: else they would go without."""


def serve(pipe: Connection) -> None:
    with Pegboard.at(pipe.recv()) as board:
        view = lru_cache(MOST_VIEWS)(board.seen_by)

        def answer(handed: Handed) -> Answer | None:
            patience = None
            if handed.seconds is not None and handed.left is not None:
                left = max(handed.left - MARGIN_SECONDS, 0.0)
                patience = Patience(handed.seconds, left)
            try:
                return view(handed.caller).find(handed.ask, handed.model, patience)
            except Exception:
                # Whoever handed it on does it again, and says what is wrong.
                log.debug("a search failed", exc_info=True)
                return None

        board.find(Ask("what is read once is read now"))
        pipe.send(READY)
        while pipe.poll(IDLE_SECONDS):
            pipe.send(answer(pipe.recv()))


def main() -> None:
    # The gateway may end at any moment.
    with Connection(int(sys.argv[1])) as pipe, suppress(EOFError, OSError):
        serve(pipe)


if __name__ == "__main__":
    main()
