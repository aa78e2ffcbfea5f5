"""Restaurants, past orders and carts of the delivery services."""
