"""Faults: declared in YAML, acting beneath the protocol on any tool, one file a kind in `kinds/`."""
