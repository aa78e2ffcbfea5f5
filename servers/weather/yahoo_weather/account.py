"""Yahoo Weather: the profile's home, units and bookmarks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.weather import _account as account
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._rules import Label, Location
from servers.weather.yahoo_weather._model import (
    BOOKMARKS,
    PLACES,
    PROFILE,
    WORDS,
    converter,
    find_place,
    place_json,
    unit_words,
)

Temperature = Annotated[Literal["F", "C"], Field(description="Unit for temperatures.")]
Wind = Annotated[Literal["mph", "km/h", "m/s", "kt"], Field(description="Unit for wind speeds.")]
Precipitation = Annotated[
    Literal["in", "mm"],
    Field(description="Unit for precipitation; pressure then uses inHg or hPa."),
]
Distance = Annotated[Literal["mi", "km"], Field(description="Unit for visibility.")]

_SAVED = account.Saved(
    table=BOOKMARKS,
    prefix="bookmark",
    exists="There is already a bookmark called '{label}'.",
    missing="There is no bookmark called '{label}'.",
    list_tool="get_bookmarked_locations",
    remove_tool="unbookmark_location",
)
_DESERT = {"label": "Desert trip", "location": "Phoenix"}


class Account(Service):
    """Tools for the user's settings and bookmarks."""

    def _bookmarks(self) -> list[Row]:
        return self.db.rows(BOOKMARKS, order="label COLLATE NOCASE")

    @reads(example={})
    def get_weather_profile(self) -> Json:
        """Get the profile's home location, bookmarks, units and time zone."""
        profile = account.profile(self.db, PROFILE)
        home = rules.by_id(self.db, PLACES, profile["home_location"])
        bookmarks = []
        for bookmark in self._bookmarks():
            place = rules.by_id(self.db, PLACES, bookmark["location"])
            bookmarks.append({"label": bookmark["label"], "place": place_json(place)})
        return {
            "email": profile["email"],
            "default_location": place_json(home),
            "saved_locations": bookmarks,
            "units": unit_words(self),
            "timezone": profile["timezone"],
        }

    @writes(example={"location": "Hood River"}, idempotent=True)
    def set_home_location(self, location: Location) -> Json:
        """Set the profile's home location and return it."""
        place = find_place(self, location)
        profile = account.profile(self.db, PROFILE)
        self.db.update(PROFILE, profile["id"], home_location=place.id)
        return {"default_location": place_json(place), "status": "ok"}

    @writes(example={"temperature": "C", "wind": "km/h"}, idempotent=True)
    def configure_units(
        self,
        temperature: Temperature | None = None,
        wind: Wind | None = None,
        precipitation: Precipitation | None = None,
        distance: Distance | None = None,
    ) -> Json:
        """Change the units that all tools use and return the new settings.

        Units that are left out stay as they are.
        """
        given = {
            "temperature": temperature,
            "wind": wind,
            "precipitation": precipitation,
            "distance": distance,
        }
        account.set_units(self, PROFILE, "There is nothing to configure.", given)
        return {"units": unit_words(self), "status": "ok"}

    @reads(example={})
    def get_bookmarked_locations(self) -> Json:
        """List bookmarks by label, with their latest temperature and condition."""
        words = unit_words(self)
        to = converter(words)
        rows = []
        for bookmark in self._bookmarks():
            place = rules.by_id(self.db, PLACES, bookmark["location"])
            hour = stations.observe(self.db, place, self.now)
            rows.append(
                {
                    "label": bookmark["label"],
                    "place": place_json(place),
                    "temperature": to.temp(hour.temp),
                    "condition": WORDS[stations.hour_sky(hour)],
                    "observed_at": place.stamp(hour.at),
                }
            )
        return {"bookmarks": rows, "total": len(rows), "units": words}

    @writes(example=_DESERT)
    def bookmark_location(self, label: Label, location: Location) -> Json:
        """Bookmark a location under a new label. Returns the label and the place."""
        place = find_place(self, location)
        stored_label = account.save(self, _SAVED, label, place)
        return {"label": stored_label, "place": place_json(place), "status": "bookmarked"}

    @writes(
        example={"label": "Desert trip"},
        setup=(Setup("bookmark_location", _DESERT),),
        destructive=True,
    )
    def unbookmark_location(self, label: Label) -> Json:
        """Remove the bookmark with this label. Case does not matter."""
        return {"label": account.remove(self, _SAVED, label), "status": "removed"}
