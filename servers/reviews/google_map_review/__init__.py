"""Reviews on Google Maps."""
