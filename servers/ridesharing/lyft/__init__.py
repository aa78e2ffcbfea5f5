"""Lyft: rides with Wait and Save and priority pickup, donations, challenges and streaks."""
