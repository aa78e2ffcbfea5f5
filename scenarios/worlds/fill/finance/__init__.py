"""Brokerage accounts, and what the market-data services keep for a person."""
