"""Outlook: folders, colour categories, pins and quick steps."""
