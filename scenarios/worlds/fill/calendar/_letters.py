"""What the calendars mail to a person: invitations, changes, and what guests answered lately."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.calendar import _busy
from servers.calendar import _mail as mail
from servers.calendar import _rules as rules
from servers.kit.types import Row
from servers.kit.values import parse_time

KEPT = 30 * rules.DAY
"""How long people keep mail that somebody accepted or declined."""


class Letters:
    """Mails what one provider mails to the owner of an account with this address."""

    def __init__(self, builder: Builder, service: str, email: str, names: dict[str, str]) -> None:
        self.builder = builder
        self.service = service
        self.email = email
        self.names = names

    def made(self, row: Row) -> None:
        """Mail the invitation of somebody else, or what guests answered to the person's own."""
        if self._invited(row):
            self._tell("invitation", parse_time(row["created_at"]), row)
        if row["organizer"] != self.email:
            return
        for guest in row["attendees"]:
            at = _busy.usually_answers_at(row | {"series_id": row.get("series_id")}, guest)
            lately = self.builder.start - KEPT < at <= self.builder.start
            if guest["response"] in mail.ANSWERS and lately:
                answer = mail.ANSWERS[guest["response"]]
                who = guest["name"] or guest["email"]
                self._tell("answered", at, row, who=who, answer=answer, by=guest["email"])

    def changed(self, row: Row, at: int, was: Row) -> None:
        """Mail that somebody else changed an event."""
        if self._invited(row):
            before = mail.when(was, self.builder.zone)
            moved = before != mail.when(row, self.builder.zone)
            self._tell("updated", at, row, was=before if moved else None)

    def cancelled(self, row: Row, at: int) -> None:
        """Mail that somebody else cancelled an event."""
        if self._invited(row):
            self._tell("cancelled", at, row)

    def _invited(self, row: Row) -> bool:
        guests = {guest["email"] for guest in row["attendees"]}
        return row["organizer"] != self.email and self.email in guests

    def _tell(self, occasion: str, at: int, row: Row, **more: Any) -> None:
        organizer = self.names.get(row["organizer"], row["organizer"])
        said = mail.said(row, self.builder.zone, organizer, **more)
        about = row["id"]
        key = f"{self.service} {occasion} {about} {more.get('by', '')}".strip()
        self.builder.posted(at, self.service, occasion, self.email, said, about=about, key=key)
