"""Meeting rooms and when they are free."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.calendar import _edit as edit
from servers.calendar import _rules as rules
from servers.calendar.outlook_calendar._model import (
    EVENTS,
    WORDS,
    End,
    Item,
    RoomId,
    Start,
    claim,
    find_room,
    stretch,
    taken,
)
from servers.calendar.outlook_calendar.events import REVIEW, THIS
from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row

Building = Annotated[
    str, Field(min_length=1, max_length=80, description="Only rooms in this building.")
]
SMALL = seeded("orm", "small")
BOOKED = Setup("book_room", THIS | {"room_id": SMALL})


def _room_json(row: Row) -> Json:
    return {"room_id": row["id"]} | {k: v for k, v in row.items() if k != "id"}


class Rooms(Service):
    """Rooms and their bookings."""

    @reads()
    def list_rooms(self, building: Building | None = None) -> Json:
        """Return meeting rooms: room_id, name, capacity (people), building, floor, equipment."""
        rooms = self.db.rows("outlook_calendar_rooms", order="building, floor, name")
        if building is not None:
            known = {r["building"].lower(): r["building"] for r in rooms}
            wanted = building.strip().lower()
            if wanted not in known:
                self.fail(
                    "ERROR_BUILDING_NOT_FOUND",
                    f"There is no building {building!r}{did_you_mean(building.lower(), known)}",
                    f"Buildings: {', '.join(sorted(known.values())) or 'none'}.",
                    building=building,
                )
            rooms = [r for r in rooms if r["building"].lower() == wanted]
        return {"rooms": [_room_json(room) for room in rooms]}

    @reads(
        example={
            "room_id": SMALL,
            "start_time": "2026-03-24T15:00:00-07:00",
            "end_time": "2026-03-24T16:00:00-07:00",
        }
    )
    def check_room_availability(self, room_id: RoomId, start_time: Start, end_time: End) -> Json:
        """Return whether a room is free in a span of up to 31 days, and its bookings.

        Your own bookings have an event_id.
        """
        room = find_room(self, room_id)
        booked = taken(self, room_id, *stretch(self, start_time, end_time, 31 * rules.DAY))
        return {
            "room_id": room_id,
            "room_name": room["name"],
            "available": not booked,
            "conflicting_events": booked,
        }

    @writes(example=BOOKED.args, setup=(REVIEW,), idempotent=True)
    def book_room(self, event_id: Item, room_id: RoomId) -> Json:
        """Book a room for a meeting that you organize; refused if the room is taken.

        An event has one room. A series books it for every occurrence.
        """
        row = rules.own(self, WORDS, event_id)
        room = find_room(self, room_id)
        if row["room_id"] not in (None, room_id):
            self.fail(
                "ERROR_ROOM_ALREADY_BOOKED",
                "The event already has another room.",
                "Release it with release_room first.",
                event_id=event_id,
                room_id=row["room_id"],
            )
        claim(self, room, row)
        # Occurrences with rows of their own follow the series while they have the same room.
        apart = self.db.rows(
            EVENTS, "series_id=? AND cancelled_at IS NULL AND start_at>?", row["id"], self.time
        )
        for part in apart:
            if part["room_id"] == row["room_id"]:
                claim(self, room, part)
        edit.change(self, WORDS, row, room_id=room_id)
        return {
            "room_id": room_id,
            "event_id": event_id,
            "room_name": room["name"],
            "status": "booked",
            "over_capacity": len(row["attendees"]) + 1 > room["capacity"],
        }

    @writes(example=THIS, setup=(REVIEW, BOOKED))
    def release_room(self, event_id: Item) -> Json:
        """Release an event's room; a series releases it for all its occurrences."""
        row = rules.own(self, WORDS, event_id)
        if row["room_id"] is None:
            self.fail(
                "ERROR_NO_ROOM_BOOKED",
                "The event has no room booked.",
                "Use book_room to book one.",
                event_id=event_id,
            )
        for part in self.db.rows(EVENTS, "series_id=? AND room_id=?", row["id"], row["room_id"]):
            edit.change(self, WORDS, part, room_id=None)
        edit.change(self, WORDS, row, room_id=None)
        return {"event_id": event_id, "room_id": row["room_id"], "status": "released"}
