"""Histories: sessions that lie before a scenario's first turn."""
