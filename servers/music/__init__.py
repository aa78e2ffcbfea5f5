"""Music providers."""
