"""The account, its calendars, and who else can use them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.calendar import _rules as rules
from servers.calendar.google_calendar._model import WORDS, CalendarId, calendar_json, primary
from servers.kit.control import seeded
from servers.kit.errors import did_you_mean
from servers.kit.fields import Email
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page

Name = Annotated[
    str, Field(min_length=1, max_length=80, pattern=r"\S", description="Name of the calendar.")
]
Role = Annotated[
    Literal["reader", "writer", "owner"],
    Field(
        description=(
            "reader sees events, writer also changes them, "
            "owner also shares and deletes the calendar."
        )
    ),
]
TRIPS = Setup("create_calendar", {"name": "Trips"}, "made")
FAMILY = Setup(
    "share_calendar", {"calendar_id": primary(), "email": "priya.nair@gmail.com", "role": "reader"}
)


class Calendars(Service):
    """Settings, calendars, access rules."""

    @reads()
    def get_calendar_settings(self) -> Json:
        """Return the signed-in account: name, email, and the time zone of its calendars."""
        me = rules.me(self, WORDS)
        return {"name": me["name"], "email": me["email"], "timezone": me["timezone"]}

    @reads()
    def list_calendars(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the calendars you can see.

        Fields: calendar_id, name, is_primary, owner, and access_role (reader, writer or owner).
        """
        return page(rules.calendars(self, WORDS), "calendars", limit, cursor, calendar_json)

    @writes(example=TRIPS.args)
    def create_calendar(self, name: Name) -> Json:
        """Create a secondary calendar that you own and return it."""
        owner = rules.me(self, WORDS)["email"]
        row = {
            "id": self.new_id("gcl"),
            "name": name,
            "owner": owner,
            "role": "owner",
            "is_primary": False,
            "created_at": self.time,
        }
        return calendar_json(self.db.insert("google_calendar_calendars", row))

    @writes(example={"calendar_id": "${made.calendar_id}"}, setup=(TRIPS,), destructive=True)
    def delete_calendar(self, calendar_id: CalendarId) -> Json:
        """Delete a secondary calendar that you own, with all its events and appointment slots.

        The primary calendar cannot be deleted.
        """
        row = rules.calendar(self, WORDS, calendar_id, "owner")
        if row["is_primary"]:
            self.fail(
                "CANNOT_DELETE_PRIMARY",
                f"'{row['name']}' is the primary calendar.",
                "Delete its events with delete_event, "
                "or choose a secondary calendar from list_calendars.",
                calendar_id=row["id"],
            )
        events = self.db.rows("google_calendar_events", "calendar_id=?", row["id"])
        for table in ("google_calendar_acl", "google_calendar_slots", "google_calendar_events"):
            for item in self.db.rows(table, "calendar_id=?", row["id"]):
                self.db.delete(table, item["id"])
        self.db.delete("google_calendar_calendars", row["id"])
        return {"calendar_id": row["id"], "status": "deleted", "deleted_events": len(events)}

    @writes(example=FAMILY.args, idempotent=True)
    def share_calendar(self, calendar_id: CalendarId, email: Email, role: Role = "reader") -> Json:
        """Give someone access to a calendar that you own, or change their role.

        Returns calendar_id, email, role, status.
        """
        row = rules.calendar(self, WORDS, calendar_id, "owner")
        address = email.lower()
        if address == row["owner"]:
            self.fail(
                "CANNOT_SHARE_WITH_OWNER",
                f"{email} already owns '{row['name']}'.",
                "Give someone else's email.",
                email=email,
            )
        earlier = next((r for r in self._acl(row["id"]) if r["email"] == address), None)
        if earlier is None:
            rule = {
                "id": self.new_id("gac"),
                "calendar_id": row["id"],
                "email": address,
                "role": role,
                "granted_at": self.time,
            }
            self._shared(row, self.db.insert("google_calendar_acl", rule))
        elif earlier["role"] != role:
            self.db.update("google_calendar_acl", earlier["id"], role=role, granted_at=self.time)
            self._shared(row, earlier | {"role": role})
        return {"calendar_id": row["id"], "email": address, "role": role, "status": "shared"}

    @writes(example={"calendar_id": primary(), "email": "priya.nair@gmail.com"}, setup=(FAMILY,))
    def unshare_calendar(self, calendar_id: CalendarId, email: Email) -> Json:
        """Remove someone's access to a calendar that you own."""
        row = rules.calendar(self, WORDS, calendar_id, "owner")
        known = {r["email"]: r["id"] for r in self._acl(row["id"])}
        if email.lower() not in known:
            self.fail(
                "ACL_RULE_NOT_FOUND",
                f"'{row['name']}' is not shared with {email}{did_you_mean(email.lower(), known)}",
                "get_calendar_acl shows who has access.",
                email=email,
                calendar_id=row["id"],
            )
        self.db.delete("google_calendar_acl", known[email.lower()])
        return {"calendar_id": row["id"], "email": email.lower(), "status": "removed"}

    @reads(example={"calendar_id": seeded("gcl", "home")})
    def get_calendar_acl(
        self, calendar_id: CalendarId, limit: Limit = 50, cursor: Cursor | None = None
    ) -> Json:
        """Return who has access to a calendar that you own, the owner first.

        Fields: email, role, granted_at.
        """
        row = rules.calendar(self, WORDS, calendar_id, "owner")
        people = [{"email": row["owner"], "role": "owner", "granted_at": row["created_at"]}]
        for rule in self._acl(row["id"]):
            people.append({k: rule[k] for k in ("email", "role", "granted_at")})
        return {"calendar_id": row["id"]} | page(people, "acl", limit, cursor)

    def _shared(self, calendar: Row, rule: Row) -> None:
        said = {
            "who": rules.me(self, WORDS)["name"],
            "calendar": calendar["name"],
            "may": "see and change its events" if rule["role"] != "reader" else "see its events",
        }
        self.post("calendar_shared", rule["email"], said, about=rule["id"])

    def _acl(self, calendar_id: str) -> list[Row]:
        return self.db.rows(
            "google_calendar_acl", "calendar_id=?", calendar_id, order="granted_at, email"
        )
