"""Zelle: bank-to-bank transfers with limits, scheduled payments, categories and search."""
