"""MCP servers: how they are written down, and the tools that they list."""
