"""Notion: workspaces of pages and typed databases, shared page by page."""
