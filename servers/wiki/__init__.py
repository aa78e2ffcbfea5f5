"""Wikis: pages, databases, comments, who may see and change them."""
