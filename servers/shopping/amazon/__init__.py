"""Amazon."""
