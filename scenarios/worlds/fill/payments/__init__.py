"""Payments: both providers and the ledger behind them."""
