"""Confluence: spaces of pages and blog posts with versions, labels and comments."""
