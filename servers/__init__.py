"""Simulated services, each a real MCP server with real state."""
