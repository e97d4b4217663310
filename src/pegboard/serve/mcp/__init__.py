"""The board as an MCP server: its tools, and how they are served over standard input and output."""
