"""Fill Yelp and Google Maps: places, what others say about them, and the person's own side.

Listings come from `places.yaml`. More businesses are put together from `_made.yaml` and the words,
streets and ZIP codes of cities that hotels use as well; the texts of others come from `say/`. Each
site has its own reviews, counts and mistakes.
"""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.reviews._own import Own
from scenarios.worlds.fill.reviews._site import SITES, Site
from scenarios.worlds.fill.reviews._talk import Talk
from scenarios.worlds.fill.reviews._words import Words


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both sites: listings, what others wrote, and the person's own side."""
    words = Words(builder)
    for name in SITES:
        site = Site(builder, seeds, name)
        site.listings()
        Talk(site, words).write()
        Own(site).write()
