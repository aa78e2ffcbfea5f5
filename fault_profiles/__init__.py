"""Faults: declared in YAML, acting beneath the protocol on any tool; a file a kind in `kinds/`."""
