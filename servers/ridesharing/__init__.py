"""Ridesharing: Uber and Lyft on one map, each with its own prices, drivers and rules."""
