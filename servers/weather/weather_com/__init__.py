"""The Weather Channel: a wallet, friends, requests, group payments, a debit card and cash-out."""
