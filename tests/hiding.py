"""What is for one namespace alone, and those who must not learn of it."""

from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.model.calls import Caller, OnChange, Outcome, Role
from pegboard.model.items import Rejection, SourceRecord, ToolType
from pegboard.model.runs import Run

HIDDEN, ABSENT = "mcptools:mail:hidden", "mcptools:mail:absent"
STRANGERS = {
    "stranger": Caller("sam", ("other",), Role.READER),
    "other author": Caller("otto", ("other",), Role.AUTHOR),
    "other admin": Caller("oona", ("other",), Role.ADMIN),
    "nobody much": Caller("ned", (), Role.READER),
}


def hide(board: Pegboard) -> None:
    """An item that was changed and run, its source, and what was refused, for `team` alone."""
    store = board.store
    store.ledger.add_source(SourceRecord("secret", "openapi", "http://secret.invalid", "team"))
    store.ledger.reject([Rejection("secret", "odd", "", "bad", "a secret thing")])
    for description in ("A secret thing.", "A secret thing, changed."):
        item = make_item(
            "hidden",
            namespace="team",
            source="secret",
            tool_type=ToolType.MCP,
            description=description,
            origin_hash=description,
        )
        store.items.put([item], board.target, on_change=OnChange.WARN)
    store.runs.record(Run("team", HIDDEN, "", store.now(), Outcome.OK, 1.0, "rob"))
    board.backfill()
