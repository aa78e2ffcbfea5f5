"""Restaurants, stores and past orders of the delivery services."""
