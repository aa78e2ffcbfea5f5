"""Ridesharing: Uber and Lyft on one map, with prices, drivers and rules of their own."""
