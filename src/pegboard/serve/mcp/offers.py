"""The tools of Pegboard's own profile: everything an agent sees of a board."""

from mcp_types import ToolAnnotations

from pegboard.model.calls import Role
from pegboard.serve.mcp import browsing, calling, creating, describing, searching
from pegboard.serve.mcp.table import Offer, always, in_thread

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
ACTS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)

OFFERS: tuple[Offer, ...] = (
    Offer(
        name="search_tools",
        title="Search tools",
        describe=searching.description,
        input_schema=searching.input_schema,
        respond=in_thread(searching.search_tools),
        output_schema=searching.OUTPUT_SCHEMA,
        hints=READS,
    ),
    Offer(
        name="describe_tool",
        title="Describe a tool",
        describe=always(describing.DESCRIPTION),
        input_schema=always(describing.INPUT_SCHEMA),
        respond=in_thread(describing.describe_tool),
        output_schema=describing.OUTPUT_SCHEMA,
        hints=READS,
    ),
    Offer(
        name="call_tool",
        title="Call a tool",
        describe=always(calling.DESCRIPTION),
        input_schema=always(calling.INPUT_SCHEMA),
        respond=calling.call_tool,
        hints=ACTS,
    ),
    Offer(
        name="create_tool",
        title="Create a tool",
        describe=always(creating.DESCRIPTION),
        input_schema=always(creating.INPUT_SCHEMA),
        respond=creating.create_tool,
        output_schema=creating.OUTPUT_SCHEMA,
        hints=WRITES,
        role=Role.AUTHOR,
    ),
    Offer(
        name="list_categories",
        title="List categories",
        describe=always(browsing.CATEGORIES_DESCRIPTION),
        input_schema=always(browsing.CATEGORIES_INPUT),
        respond=in_thread(browsing.list_categories),
        output_schema=browsing.CATEGORIES_OUTPUT,
        hints=READS,
    ),
    Offer(
        name="list_tools",
        title="List tools",
        describe=always(browsing.TOOLS_DESCRIPTION),
        input_schema=always(browsing.TOOLS_INPUT),
        respond=in_thread(browsing.list_tools),
        output_schema=browsing.TOOLS_OUTPUT,
        hints=READS,
    ),
)
