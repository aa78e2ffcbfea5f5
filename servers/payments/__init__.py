"""Payments: Venmo and Zelle over one set of bank accounts."""
