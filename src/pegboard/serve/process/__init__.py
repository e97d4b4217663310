"""The gateway as one process: routes, page and MCP together, behind one socket."""
