"""Expedia."""
