"""Yahoo Weather: the profile's home, units and bookmarks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Setup, reads, writes
from servers.weather import _rules as rules
from servers.weather._rules import Label, Location
from servers.weather.yahoo_weather.base import BOOKMARKS, PLACES, PROFILE, WORDS, Base, named

Temperature = Annotated[Literal["F", "C"], Field(description="Unit of temperatures.")]
Wind = Annotated[Literal["mph", "km/h", "m/s", "kt"], Field(description="Unit of wind speeds.")]
Precipitation = Annotated[Literal["in", "mm"], Field(description="Unit of precipitation; pressure follows it (inHg or hPa).")]
Distance = Annotated[Literal["mi", "km"], Field(description="Unit of visibility.")]


class Account(Base):
    """What the person has set and bookmarked."""

    def _profile(self) -> dict[str, Any]:
        return self.db.rows(PROFILE, limit=1)[0]

    def _bookmarks(self) -> list[dict[str, Any]]:
        return self.db.rows(BOOKMARKS, order="label COLLATE NOCASE")

    @reads(example={})
    def get_weather_profile(self) -> dict[str, Any]:
        """Return the profile's home location, bookmarks, units and time zone."""
        profile = self._profile()
        marks = [{"label": b["label"], "place": named(rules.by_id(self.db, PLACES, b["location"]))} for b in self._bookmarks()]
        return {
            "email": profile["email"],
            "default_location": named(rules.by_id(self.db, PLACES, profile["home_location"])),
            "saved_locations": marks,
            "units": self.unit_words(),
            "timezone": profile["timezone"],
        }

    @writes(example={"location": "Hood River"}, idempotent=True)
    def set_home_location(self, location: Location) -> dict[str, Any]:
        """Make a location the profile's home. Returns it."""
        place = self.place(location)
        self.db.update(PROFILE, self._profile()["id"], home_location=place.id)
        return {"default_location": named(place), "status": "ok"}

    @writes(example={"temperature": "C", "wind": "km/h"}, idempotent=True)
    def configure_units(
        self,
        temperature: Temperature | None = None,
        wind: Wind | None = None,
        precipitation: Precipitation | None = None,
        distance: Distance | None = None,
    ) -> dict[str, Any]:
        """Change the units of every later reading; what is left out stays. Returns all units as they are now."""
        given = {"temperature": temperature, "wind": wind, "precipitation": precipitation, "distance": distance}
        changes = {name: unit for name, unit in given.items() if unit is not None}
        if not changes:
            self.fail(self.codes.invalid, "Nothing to configure.", "Give at least one of temperature, wind, precipitation, distance.")
        self.db.update(PROFILE, self._profile()["id"], **changes)
        return {"units": self.unit_words(), "status": "ok"}

    @reads(example={})
    def get_bookmarked_locations(self) -> dict[str, Any]:
        """Return the bookmarks by label, each with its place and latest temperature and condition."""
        words = self.unit_words()
        to, rows = self.converter(words), []
        for mark in self._bookmarks():
            place = rules.by_id(self.db, PLACES, mark["location"])
            hour = rules.observe(self.db, place, self.now)
            reading = {"temperature": to.temp(hour.temp), "condition": WORDS[rules.hour_sky(hour)], "observed_at": place.stamp(hour.at)}
            rows.append({"label": mark["label"], "place": named(place)} | reading)
        return {"bookmarks": rows, "total": len(rows), "units": words}

    @writes(example={"label": "Desert trip", "location": "Phoenix"})
    def bookmark_location(self, label: Label, location: Location) -> dict[str, Any]:
        """Bookmark a location under a label; each label exists once. Returns label and place."""
        place, label = self.place(location), label.strip()
        if not label:
            self.fail(self.codes.invalid, "The label is blank.", "Give a label such as Cabin.")
        if rules.labelled(self.db, BOOKMARKS, label):
            self.fail("LABEL_EXISTS", f"A bookmark '{label}' exists.", "Choose another label or call unbookmark_location first.")
        self.db.insert(BOOKMARKS, {"id": self.new_id("bookmark"), "label": label, "location": place.id, "created": self.time})
        return {"label": label, "place": named(place), "status": "bookmarked"}

    @writes(
        example={"label": "Desert trip"},
        setup=(Setup("bookmark_location", {"label": "Desert trip", "location": "Phoenix"}),),
        destructive=True,
    )
    def unbookmark_location(self, label: Label) -> dict[str, Any]:
        """Remove the bookmark with a label; upper and lower case are the same."""
        mark = rules.labelled(self.db, BOOKMARKS, label)
        if mark is None:
            self.fail("LABEL_NOT_FOUND", f"There is no bookmark '{label}'.", "Call get_bookmarked_locations for the labels.")
        self.db.delete(BOOKMARKS, mark["id"])
        return {"label": mark["label"], "status": "removed"}
