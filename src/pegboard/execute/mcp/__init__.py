"""Tools of MCP servers: sessions that are kept, and calls through them."""
