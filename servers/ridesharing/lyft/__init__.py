"""Lyft: rides with wait-and-save and priority pickup, scheduled rides, round-up donations, challenges and streaks."""
