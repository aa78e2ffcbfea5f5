"""Time as a service."""
