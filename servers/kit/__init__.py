"""What every service stands on: store, clock, calls, expressions and the MCP adapter."""
