"""Outlook Calendar: rooms, categories, meeting times and scheduling polls."""
