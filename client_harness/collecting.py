"""How often Python looks for cyclic garbage while we run.

Its default, every 700 objects, suits small programs. Ours makes hundreds of thousands of objects
that stay, such as schemas and patterns, and looks through them again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

OBJECTS = 20_000


@contextmanager
def seldom_collecting() -> Generator[None]:
    """Look for garbage only once per 20,000 new objects, as long as the context lasts."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
