"""The Weather Channel: the account's default place, units and saved locations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.weather import _account as account
from servers.weather import _rules as rules
from servers.weather import _stations as stations
from servers.weather._rules import Label, Location
from servers.weather.weather_com._model import (
    PLACES,
    PROFILE,
    SAVED,
    WORDS,
    converter,
    find_place,
    place_json,
    unit_words,
)

Temperature = Annotated[
    Literal["fahrenheit", "celsius"], Field(description="Unit for temperatures.")
]
Wind = Annotated[Literal["mph", "kmh", "ms", "knots"], Field(description="Unit for wind speeds.")]
Precipitation = Annotated[Literal["inches", "mm"], Field(description="Unit for precipitation.")]
Distance = Annotated[Literal["miles", "km"], Field(description="Unit for visibility.")]

_SAVED = account.Saved(
    table=SAVED,
    prefix="saved",
    exists="There is already a saved location called '{label}'.",
    missing="There is no saved location called '{label}'.",
    list_tool="get_saved_locations",
    remove_tool="remove_saved_location",
)
_DESERT = {"label": "Desert trip", "location": "Phoenix"}


class Account(Service):
    """Tools for the user's settings and saved locations."""

    def _saved(self) -> list[Row]:
        return self.db.rows(SAVED, order="created, id")

    @reads(example={})
    def get_weather_preferences(self) -> Json:
        """Get the account's default location, saved locations, units and time zone."""
        profile = account.profile(self.db, PROFILE)
        default = rules.by_id(self.db, PLACES, profile["default_location"])
        saved_locations = []
        for saved in self._saved():
            place = rules.by_id(self.db, PLACES, saved["location"])
            saved_locations.append({"label": saved["label"], "location": place_json(place)})
        return {
            "email": profile["email"],
            "default_location": place_json(default),
            "saved_locations": saved_locations,
            "units": unit_words(self),
            "timezone": profile["timezone"],
        }

    @writes(example={"location": "Hood River"}, idempotent=True)
    def set_default_location(self, location: Location) -> Json:
        """Set the account's default location and return it."""
        place = find_place(self, location)
        profile = account.profile(self.db, PROFILE)
        self.db.update(PROFILE, profile["id"], default_location=place.id)
        return {"default_location": place_json(place), "status": "updated"}

    @writes(example={"temperature": "celsius", "wind": "kmh"}, idempotent=True)
    def set_unit_preferences(
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
        account.set_units(self, PROFILE, "No units were given.", given)
        return {"units": unit_words(self), "status": "updated"}

    @reads(example={})
    def get_saved_locations(self) -> Json:
        """List saved locations with their latest temperature and condition, oldest first."""
        words = unit_words(self)
        to = converter(words)
        rows = []
        for saved in self._saved():
            place = rules.by_id(self.db, PLACES, saved["location"])
            hour = stations.observe(self.db, place, self.now)
            rows.append(
                {
                    "label": saved["label"],
                    "location": place_json(place),
                    "observed_at": place.stamp(hour.at),
                    "temperature": to.temp(hour.temp),
                    "condition": WORDS[stations.hour_sky(hour)],
                }
            )
        return {"saved_locations": rows, "total": len(rows), "units": words}

    @writes(example=_DESERT)
    def add_saved_location(self, label: Label, location: Location) -> Json:
        """Save a location under a new label. Returns the label and the location."""
        place = find_place(self, location)
        stored_label = account.save(self, _SAVED, label, place)
        return {"label": stored_label, "location": place_json(place), "status": "saved"}

    @writes(
        example={"label": "Desert trip"},
        setup=(Setup("add_saved_location", _DESERT),),
        destructive=True,
    )
    def remove_saved_location(self, label: Label) -> Json:
        """Remove the saved location with this label. Case does not matter."""
        return {"label": account.remove(self, _SAVED, label), "status": "removed"}
