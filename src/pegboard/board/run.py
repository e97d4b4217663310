"""Call a tool: find it, judge it, check the arguments, hand it to what runs its type."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future

from pegboard.board.describe import describe
from pegboard.calls import CallResult, OnProgress
from pegboard.content import Json
from pegboard.errors import InvalidArguments, NotExecutable
from pegboard.model import Filters, Item, Kind, ToolType
from pegboard.ports import Store

Start = Callable[[Item, Json, float | None, OnProgress | None], "Future[CallResult]"]
Complaints = Callable[[Json, Json], str]
"""What is wrong with arguments by a schema, for the caller to put right; empty if nothing is."""


class Running:
    """What can be run here, and how."""

    def __init__(
        self, store: Store, starts: Mapping[ToolType, Start], complaints: Complaints
    ) -> None:
        self.store = store
        self.starts = starts
        self.complaints = complaints

    def start(
        self,
        name: str,
        arguments: Json,
        within: Filters,
        *,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> "Future[CallResult]":
        """Raises if the call cannot be made; how a call ended that was made is in its result."""
        item = describe(self.store, name, within).item
        start = self.starts.get(item.tool_type) if item.tool_type else None
        if item.kind is not Kind.TOOL:
            raise NotExecutable(
                f"{item.id} is of kind {item.kind}, which is read and not run",
                "read it with describe_tool (pegboard show), and follow it yourself",
            )
        if start is None:
            what = f"a {item.tool_type} tool" if item.tool_type else "a tool of no type"
            raise NotExecutable(
                f"{item.id} is {what}, and this Pegboard runs only: {', '.join(self.starts)}",
                "read how it works with describe_tool (pegboard show), and run it yourself",
            )
        if wrong := self.complaints(arguments, item.input_schema):
            raise InvalidArguments(f"{item.id} was not called. {wrong}")
        return start(item, arguments, seconds, on_progress)
