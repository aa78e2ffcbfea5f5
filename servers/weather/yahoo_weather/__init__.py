"""Yahoo Weather: a wallet, friends, requests, group payments, a debit card and cash-out."""
