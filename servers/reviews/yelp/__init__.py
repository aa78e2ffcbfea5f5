"""Yelp."""
