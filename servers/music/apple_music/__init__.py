"""Apple Music."""
