"""MCP servers as tools of an agent: child processes that speak the Model Context Protocol."""
