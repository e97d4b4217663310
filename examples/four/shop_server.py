"""An MCP server with one tool, over standard input and output."""

from mcp.server import MCPServer

HOURS = {"saturday": "9 to 13", "sunday": "closed"}

shop = MCPServer("shop")


@shop.tool()
def opening_hours(day: str) -> str:
    """Say when the shop is open on a day of the week."""
    return HOURS.get(day.lower(), "9 to 18")


if __name__ == "__main__":
    shop.run()
