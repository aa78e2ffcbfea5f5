"""Robinhood: stocks, coins and options from a phone."""
