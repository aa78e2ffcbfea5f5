"""Vanguard: funds at their net asset value, and accounts for retirement."""
