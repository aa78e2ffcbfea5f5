"""The account, its calendars, categories and working hours."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from servers.calendar import _edit as edit
from servers.calendar import _rules as rules
from servers.calendar._recurrence import DAY_NAMES
from servers.calendar.outlook_calendar._model import EVENTS, WORDS, Folder, Item, folder_json
from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page


def _zone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError):
        raise ValueError("must be a time zone such as America/Los_Angeles") from None


FolderName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=80,
        pattern=r"\S",
        description="Name of the new calendar; it must differ from your other calendars.",
    ),
]
Category = Annotated[
    str,
    Field(min_length=1, max_length=60, description="Name of a category, from list_categories."),
]
WorkDays = Annotated[
    list[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]],
    Field(min_length=1, max_length=7, description="Days on which you work."),
]
Hour = Annotated[
    str,
    Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="HH:MM, on the 24-hour clock, in the given time zone.",
    ),
]
Zone = Annotated[
    str,
    Field(max_length=60, description="IANA time zone of the hours, e.g. America/Los_Angeles."),
    AfterValidator(_zone),
]
SIDE = Setup("new_calendar", {"name": "Conference talks"}, "side")
STANDUP = seeded("oev", "standup")


class Account(Service):
    """Profile, calendars, categories and hours."""

    @reads()
    def get_calendar_profile(self) -> Json:
        """Return name, email and timezone of the signed-in mailbox.

        Days, and times without an offset, are in that time zone.
        """
        row = rules.me(self, WORDS)
        return {k: row[k] for k in ("name", "email", "timezone")}

    @reads()
    def get_calendars(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return your calendars and those shared with you.

        Fields: calendar_id, name, owner_email, is_primary, can_edit, can_share.
        """
        return page(rules.calendars(self, WORDS), "calendars", limit, cursor, folder_json)

    @writes(example=SIDE.args)
    def new_calendar(self, name: FolderName) -> Json:
        """Add a calendar to the mailbox and return it; its name must be unique in the mailbox."""
        mailbox = rules.me(self, WORDS)["email"]
        for calendar in rules.calendars(self, WORDS):
            same_name = calendar["name"].lower() == name.strip().lower()
            if same_name and calendar["owner"] == mailbox:
                self.fail(
                    "ERROR_FOLDER_EXISTS",
                    f"There is already a calendar named '{calendar['name']}'.",
                    "Use that calendar, or choose another name.",
                    calendar_id=calendar["id"],
                )
        row = {
            "id": self.new_id("ocl"),
            "name": name.strip(),
            "owner": mailbox,
            "role": "owner",
            "is_primary": False,
            "created_at": self.time,
        }
        return folder_json(self.db.insert("outlook_calendar_calendars", row))

    @writes(example={"calendar_id": "${side.calendar_id}"}, setup=(SIDE,), destructive=True)
    def remove_calendar(self, calendar_id: Folder) -> Json:
        """Permanently remove a calendar of your own with everything in it.

        The primary calendar cannot be removed.
        """
        calendar = rules.calendar(self, WORDS, calendar_id, "owner")
        if calendar["is_primary"]:
            self.fail(
                "ERROR_CANNOT_DELETE_FOLDER",
                "The primary calendar cannot be removed.",
                "Cancel its events with cancel_event instead.",
            )
        events = self.db.rows(EVENTS, "calendar_id=?", calendar["id"])
        for event in events:
            self.db.delete(EVENTS, event["id"])
        self.db.delete("outlook_calendar_calendars", calendar["id"])
        return {"calendar_id": calendar["id"], "status": "removed", "events_removed": len(events)}

    @reads()
    def list_categories(self) -> Json:
        """Return the color categories of the mailbox: name, color."""
        return {"categories": self.db.rows("outlook_calendar_categories", order="name")}

    @writes(example={"event_id": STANDUP, "category": "Urgent"}, idempotent=True)
    def set_category(self, event_id: Item, category: Category) -> Json:
        """Assign a category to an event, a series or one occurrence, replacing its current one."""
        row = self._writable(event_id)
        known = {c["name"].lower(): c["name"] for c in self.db.rows("outlook_calendar_categories")}
        if category.strip().lower() not in known:
            self.fail(
                "ERROR_CATEGORY_NOT_FOUND",
                f"There is no category {category!r}{did_you_mean(category.lower(), known)}",
                "list_categories shows all categories.",
                category=category,
            )
        chosen = known[category.strip().lower()]
        edit.change(self, WORDS, row, category=chosen)
        return {"event_id": event_id, "category": chosen, "status": "categorized"}

    @writes(
        example={"event_id": STANDUP},
        setup=(Setup("set_category", {"event_id": STANDUP, "category": "Urgent"}),),
        idempotent=True,
    )
    def clear_category(self, event_id: Item) -> Json:
        """Remove an event's category."""
        edit.change(self, WORDS, self._writable(event_id), category=None)
        return {"event_id": event_id, "category": None, "status": "cleared"}

    def _writable(self, event_id: str) -> dict[str, Any]:
        row = rules.live(self, WORDS, event_id)
        rules.calendar(self, WORDS, row["calendar_id"], "writer")
        return row

    @writes(
        example={
            "days": ["Monday", "Tuesday", "Thursday"],
            "start_time": "08:00",
            "end_time": "16:30",
            "timezone": "America/Los_Angeles",
        },
        idempotent=True,
    )
    def set_working_hours(
        self, days: WorkDays, start_time: Hour, end_time: Hour, timezone: Zone
    ) -> Json:
        """Set when you work; find_meeting_times prefers these hours."""
        if end_time <= start_time:
            self.fail(
                "ERROR_INVALID_TIME_INTERVAL",
                f"Working hours from {start_time} to {end_time} are empty.",
                "end_time must be later on the same day.",
            )
        hours = {
            "days": [d for d in DAY_NAMES if d in days],
            "start_time": start_time,
            "end_time": end_time,
            "timezone": timezone,
        }
        present = self.db.rows("outlook_calendar_hours")
        if not present:
            self.db.insert("outlook_calendar_hours", {"id": "me", **hours})
        elif present[0] != {"id": "me", **hours}:
            self.db.update("outlook_calendar_hours", "me", **hours)
        return hours

    @reads()
    def get_working_hours(self) -> Json:
        """Return days, start_time, end_time (HH:MM) and timezone; empty if none are set."""
        rows = self.db.rows("outlook_calendar_hours")
        return {k: v for k, v in rows[0].items() if k != "id"} if rows else {}
