"""A board as an MCP server: the requests of the protocol, and what answers them."""

from collections.abc import Sequence
from typing import Any

from mcp.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListToolsResult,
    NotificationParams,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    Tool,
)

from pegboard import Pegboard, __version__
from pegboard.errors import PegboardError, UsageError
from pegboard.serve.mcp import changes
from pegboard.serve.mcp.changes import Changes, Following
from pegboard.serve.mcp.offers import OFFERS
from pegboard.serve.mcp.pytools import pytools_offers
from pegboard.serve.mcp.replies import failed, one_line, text_block
from pegboard.serve.mcp.table import Asked, Context, Offer, Schema
from pegboard.serve.prompt import Profile, Workflow, workflow
from pegboard.serve.threads import Threads

PROMPT = Prompt(
    name="tool_discovery",
    title="How to find tools",
    description="The way from a task to the right tool on this board.",
    arguments=[
        PromptArgument(
            name="mode",
            description="hybrid: by searching (default). basic: by browsing categories.",
            required=False,
        )
    ],
)


class Telling(Server[Following]):
    """A server that says that its tools may change, whichever transport asks for its abilities."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        said = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(said, experimental_capabilities, extensions)


class Face:
    """One board for any number of clients; `server` is what a transport runs.

    What the board's caller may not do at all is not offered.
    """

    def __init__(
        self,
        board: Pegboard,
        profile: Profile,
        offers: Sequence[Offer],
        threads: Threads | None = None,
    ) -> None:
        self.board = board
        self.profile = profile
        role = board.caller.role
        self.offers = {offer.name: offer for offer in offers if role.covers(offer.role)}
        self.threads = threads or Threads()
        self._changes = Changes(self._what_is_shown)
        self.server: Server[Following] = Telling(
            profile.value,
            version=__version__,
            instructions=workflow(Workflow.HYBRID, profile=profile),
            lifespan=self._changes.following,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
            on_subscriptions_listen=changes.listen,
            get_tool_input_schema=self._input_schema,
        )
        self.server.add_notification_handler(
            "notifications/initialized", NotificationParams, changes.initialized
        )

    def board_changed(self) -> None:
        """Let clients know, if what they see of the board is another. May come from any thread."""
        self._changes.board_changed()

    def end_listening(self) -> None:
        """Bring to an end, in the protocol's own way, what would go on until the client leaves."""
        self._changes.end_listening()

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        tools = await self.threads.run(self._tools)
        context.lifespan_context.was_shown(_descriptions(tools))
        return ListToolsResult(tools=tools)

    def _tools(self) -> list[Tool]:
        return [offer.shown(self.board) for offer in self.offers.values()]

    async def _what_is_shown(self) -> str:
        return _descriptions(await self.threads.run(self._tools))

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        try:
            offer = self._offer(params.name)
            arguments = offer.checked(self.board, params.arguments or {})
            asked = Asked(self.board, arguments, context, self.threads, params.input_responses)
            return await offer.respond(asked)
        except PegboardError as error:
            return failed(error, outside=not self.board.caller.everywhere)

    def _input_schema(self, name: str) -> Schema | None:
        offer = self.offers.get(name)
        return offer.input_schema(self.board) if offer else None

    def _offer(self, name: str) -> Offer:
        if (offer := self.offers.get(name)) is None:
            raise UsageError(
                f"there is no tool {one_line(name)[:60]!r} here; there are: "
                + ", ".join(self.offers),
                "tools of the board are found with search_tools",
            )
        return offer

    async def list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(INVALID_PARAMS, f"there is only one prompt here: {PROMPT.name}")
        mode = (params.arguments or {}).get("mode", Workflow.HYBRID)
        if mode not in set(Workflow):
            raise MCPError(INVALID_PARAMS, f"mode must be one of {', '.join(Workflow)}")
        text = text_block(workflow(mode, profile=self.profile))
        return GetPromptResult(
            description=PROMPT.description, messages=[PromptMessage(role="user", content=text)]
        )


def _descriptions(tools: Sequence[Tool]) -> str:
    return "\n".join(tool.description or "" for tool in tools)


def make_face(
    board: Pegboard,
    profile: Profile | str = Profile.PEGBOARD,
    *,
    tools_dir: str = "",
    threads: Threads | None = None,
) -> Face:
    """`tools_dir` is for the profile `pytools`: the folder of the tools, as it was given.

    Faces may share `threads`.
    """
    kind = Profile(profile)
    offers = pytools_offers(tools_dir) if kind is Profile.PYTOOLS else OFFERS
    return Face(board, kind, offers, threads)
