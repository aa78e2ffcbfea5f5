"""Fidelity: a broker for stocks, funds and coins, with research, tax lots and baskets."""
