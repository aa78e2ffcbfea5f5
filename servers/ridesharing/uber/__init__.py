"""Uber: rides with stops, reservations, fare splits with contacts, and parcels."""
