"""Weather: The Weather Channel and Yahoo Weather over one truth."""
