"""Spotify."""
