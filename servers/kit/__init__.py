"""The base of every service: store, clock, calls, expressions and the MCP adapter."""
