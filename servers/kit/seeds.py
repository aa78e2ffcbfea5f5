"""The bound of seeds, apart from all that takes time to import."""

MOST_SEED = 2**53
"""The largest seed; trials add to it, and a row must still hold the sum."""
