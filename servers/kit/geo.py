"""Places on the map."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

EARTH_RADIUS = 3958.8
"""In miles."""

Latitude = Annotated[float, Field(ge=-90, le=90, description="Latitude in degrees, e.g. 45.5152.")]
Longitude = Annotated[
    float, Field(ge=-180, le=180, description="Longitude in degrees, e.g. -122.6784.")
]


def miles(lat1: float, lng1: float, lat2: float, lng2: float) -> float:
    """Return the great-circle distance in miles (haversine).

    It is rounded to 1/100, so that it is the same on every machine.
    """
    a = math.radians(lat1)
    b = math.radians(lat2)
    north = math.sin((b - a) / 2) ** 2
    east = math.cos(a) * math.cos(b) * math.sin(math.radians(lng2 - lng1) / 2) ** 2
    angle = 2 * math.asin(min(1.0, math.sqrt(north + east)))
    return round(EARTH_RADIUS * angle, 2)
