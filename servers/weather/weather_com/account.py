"""The Weather Channel: the account's default place, units and saved locations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Setup, reads, writes
from servers.weather import _account as account
from servers.weather import _rules as rules
from servers.weather._rules import Label, Location
from servers.weather.weather_com._model import PLACES, PROFILE, SAVED, WORDS, Base, named

Temperature = Annotated[
    Literal["fahrenheit", "celsius"], Field(description="Unit of temperatures.")
]
Wind = Annotated[Literal["mph", "kmh", "ms", "knots"], Field(description="Unit of wind speeds.")]
Precipitation = Annotated[Literal["inches", "mm"], Field(description="Unit of precipitation.")]
Distance = Annotated[Literal["miles", "km"], Field(description="Unit of visibility.")]

_SAVED = account.Saved(
    table=SAVED,
    prefix="saved",
    exists="There is already a saved location '{label}'.",
    missing="There is no saved location '{label}'.",
    lister="get_saved_locations",
    remover="remove_saved_location",
)


class Account(Base):
    """What the person has set and saved."""

    def _saved(self) -> list[dict[str, Any]]:
        return self.db.rows(SAVED, order="created, id")

    @reads(example={})
    def get_weather_preferences(self) -> dict[str, Any]:
        """Return the account's default location, saved locations, units and time zone."""
        profile = account.profile(self.db, PROFILE)
        return {
            "email": profile["email"],
            "default_location": named(rules.by_id(self.db, PLACES, profile["default_location"])),
            "saved_locations": [
                {
                    "label": s["label"],
                    "location": named(rules.by_id(self.db, PLACES, s["location"])),
                }
                for s in self._saved()
            ],
            "units": self.unit_words(),
            "timezone": profile["timezone"],
        }

    @writes(example={"location": "Hood River"}, idempotent=True)
    def set_default_location(self, location: Location) -> dict[str, Any]:
        """Make a location the account's default. Returns it."""
        place = self.place(location)
        self.db.update(PROFILE, account.profile(self.db, PROFILE)["id"], default_location=place.id)
        return {"default_location": named(place), "status": "updated"}

    @writes(example={"temperature": "celsius", "wind": "kmh"}, idempotent=True)
    def set_unit_preferences(
        self,
        temperature: Temperature | None = None,
        wind: Wind | None = None,
        precipitation: Precipitation | None = None,
        distance: Distance | None = None,
    ) -> dict[str, Any]:
        """Change the units of every later reading; what is left out stays. Returns all units as they are now."""
        given = {
            "temperature": temperature,
            "wind": wind,
            "precipitation": precipitation,
            "distance": distance,
        }
        account.set_units(self, PROFILE, "No unit was given.", given)
        return {"units": self.unit_words(), "status": "updated"}

    @reads(example={})
    def get_saved_locations(self) -> dict[str, Any]:
        """Return the saved locations, oldest first, each with its label and latest temperature and condition."""
        words = self.unit_words()
        to = self.converter(words)
        rows = []
        for saved in self._saved():
            place = rules.by_id(self.db, PLACES, saved["location"])
            hour = rules.observe(self.db, place, self.now)
            rows.append(
                {
                    "label": saved["label"],
                    "location": named(place),
                    "observed_at": place.stamp(hour.at),
                    "temperature": to.temp(hour.temp),
                    "condition": WORDS[rules.hour_sky(hour)],
                }
            )
        return {"saved_locations": rows, "total": len(rows), "units": words}

    @writes(example={"label": "Desert trip", "location": "Phoenix"})
    def add_saved_location(self, label: Label, location: Location) -> dict[str, Any]:
        """Save a location under a label of one's own; each label exists once. Returns label and location."""
        place = self.place(location)
        return {
            "label": account.save(self, _SAVED, label, place),
            "location": named(place),
            "status": "saved",
        }

    @writes(
        example={"label": "Desert trip"},
        setup=(Setup("add_saved_location", {"label": "Desert trip", "location": "Phoenix"}),),
        destructive=True,
    )
    def remove_saved_location(self, label: Label) -> dict[str, Any]:
        """Remove the saved location with a label; upper and lower case are the same."""
        return {"label": account.remove(self, _SAVED, label), "status": "removed"}
