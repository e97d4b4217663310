"""Running tools: sessions to the MCP servers they live on, and their arguments checked first."""
