"""Scheduling polls: people vote on proposed times, and the organizer picks one."""

from __future__ import annotations

from collections import Counter
from datetime import time
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.calendar import _busy
from servers.calendar import _edit as edit
from servers.calendar import _mail as mail
from servers.calendar import _rules as rules
from servers.calendar.outlook_calendar._model import (
    QUARTER_HOUR,
    WORDS,
    End,
    Place,
    Start,
    Subject,
    moment,
)
from servers.kit.control import seeded
from servers.kit.fields import Email, Id
from servers.kit.listing import Listing, Since, Until
from servers.kit.noise import share
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time


@with_config(extra="forbid")
class Proposal(TypedDict):
    """A proposed time."""

    start_time: Start
    end_time: End


@with_config(extra="forbid")
class Vote(TypedDict):
    """Your vote on a proposed time."""

    slot_id: Annotated[Id, Field(description="slot_id from the poll.")]
    response: Annotated[
        Literal["yes", "maybe", "no"], Field(description="Whether the time suits you.")
    ]


PollId = Annotated[str, Field(description="poll_id, from list_scheduling_polls.")]
Proposals = Annotated[
    list[Proposal],
    Field(
        min_length=2,
        max_length=10,
        description="Times to choose from, each as long as the meeting.",
    ),
]
Voters = Annotated[
    list[Email],
    Field(min_length=1, max_length=30, description="Email addresses of the other voters."),
]
Length = Annotated[int, Field(ge=15, le=480, description="Length of the meeting in minutes.")]
Votes = Annotated[
    list[Vote],
    Field(
        min_length=1,
        max_length=10,
        description="Your votes; proposals that you leave out keep your earlier vote.",
    ),
]
Winner = Annotated[str, Field(description="slot_id to choose instead of the leading one.")]
PollStatus = Annotated[
    Literal["open", "expired", "finalized", "cancelled"],
    Field(description="Only polls in this state."),
]
FIRST_VOTES = 1800
"""Seconds that people take at least to vote in a poll."""
OFFSITE = Setup(
    "create_scheduling_poll",
    {
        "title": "Spring offsite planning",
        "proposed_times": [
            {"start_time": "2026-03-30T09:00:00-07:00", "end_time": "2026-03-30T10:00:00-07:00"},
            {"start_time": "2026-03-31T14:00:00-07:00", "end_time": "2026-03-31T15:00:00-07:00"},
        ],
        "attendees": ["lucas.weber@fernhill.design", "mei.chen@fernhill.design"],
        "duration_minutes": 60,
    },
    "poll",
)
POLL = {"poll_id": "${poll.poll_id}"}
YES = Setup(
    "vote_on_poll", POLL | {"votes": [{"slot_id": "${poll.slots[1].slot_id}", "response": "yes"}]}
)


def _slot(poll: Row, slot_id: str) -> dict[str, Any] | None:
    """Return a slot of a poll by its ID, or None."""
    return next((slot for slot in poll["slots"] if slot["slot_id"] == slot_id), None)


def _slot_json(slot: Row) -> Json:
    return {"slot_id": slot["slot_id"], "start": slot["start_at"], "end": slot["end_at"]}


class Polls(Service):
    """The account's own polls, and those in which it is asked to vote."""

    @writes(example=OFFSITE.args)
    def create_scheduling_poll(
        self,
        title: Subject,
        proposed_times: Proposals,
        attendees: Voters,
        duration_minutes: Length,
        location: Place = "",
    ) -> Json:
        """Ask people which of two to ten future times suit them, and return the poll.

        You vote with vote_on_poll like everyone else.
        """
        spans = [
            (moment(self, p["start_time"]), moment(self, p["end_time"])) for p in proposed_times
        ]
        for first, last in spans:
            is_past = first <= self.now
            if is_past or last - first != duration_minutes * 60:
                why = "is in the past" if is_past else f"does not last {duration_minutes} minutes"
                self.fail(
                    WORDS.bad_time,
                    f"The time from {iso(first)} to {iso(last)} {why}.",
                    "Correct the times or duration_minutes.",
                )
        if len(set(spans)) < len(spans):
            self.fail(
                "ERROR_DUPLICATE_TIME",
                "The same time is proposed twice.",
                "Propose each time once.",
            )
        mailbox = rules.me(self, WORDS)["email"]
        slots = [
            {"slot_id": self.new_id("ols"), "start_at": iso(first), "end_at": iso(last)}
            for first, last in sorted(spans)
        ]
        addresses = dict.fromkeys(a.lower() for a in attendees)
        people = [address for address in addresses if address != mailbox]
        if not people:
            self.fail(
                "ERROR_NO_ATTENDEES",
                "You are the only person in this poll.",
                "List other people in attendees.",
            )
        row = {
            "id": self.new_id("opl"),
            "title": title,
            "organizer": mailbox,
            "attendees": people,
            "slots": slots,
            "location": location,
            "duration_minutes": duration_minutes,
            "created_at": self.time,
        }
        self.db.insert("outlook_calendar_polls", row)
        for address in people:
            self.post("poll", address, self._said(row), about=row["id"])
        return self._poll_json(self._poll(row["id"]))

    @reads()
    def list_scheduling_polls(
        self,
        status: PollStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return polls that you made or can vote in, newest first, with the votes so far."""
        rows = Listing(self.db, "outlook_calendar_polls", by="created_at")
        rows = rows.days(since, until, rules.zone(self, WORDS))
        if status is not None:
            rows = rows.keep(lambda row: self._state(row) == status)
        return page(rows, "polls", limit, cursor, self._poll_json)

    @reads(example={"poll_id": seeded("opl", "critique")})
    def get_scheduling_poll(self, poll_id: PollId) -> Json:
        """Return a poll with all votes so far and its leading_slot.

        The slot with the most yes votes leads, then the most maybe votes, then the earliest; null
        if there are no votes.
        """
        return self._poll_json(self._poll(poll_id))

    @writes(example=YES.args, setup=(OFFSITE,), idempotent=True)
    def vote_on_poll(self, poll_id: PollId, votes: Votes) -> Json:
        """Vote, or change your votes, in an open poll."""
        poll = self._open(poll_id)
        voter = rules.me(self, WORDS)["email"]
        known = [s["slot_id"] for s in poll["slots"]]
        voted = [v["slot_id"] for v in votes]
        unknown = next((s for s in voted if s not in known), None)
        if unknown is not None:
            self.fail(
                "ERROR_SLOT_NOT_FOUND",
                f"The poll has no slot {unknown!r}.",
                "get_scheduling_poll shows its slots.",
                slot_id=unknown,
            )
        if len(set(voted)) < len(voted):
            self.fail(
                "ERROR_DUPLICATE_VOTE",
                "There are two votes for the same slot.",
                "Vote once for each slot_id.",
            )
        earlier = {
            r["slot_id"]: r
            for r in self.db.rows("outlook_calendar_votes", "poll_id=? AND voter=?", poll_id, voter)
        }
        changed = False
        for vote in votes:
            cast = {"response": vote["response"], "voted_at": self.time}
            before = earlier.get(vote["slot_id"])
            if before is None or before["response"] != vote["response"]:
                changed = True
            if before is None:
                row = {
                    "id": self.new_id("olv"),
                    "poll_id": poll_id,
                    "slot_id": vote["slot_id"],
                    "voter": voter,
                }
                self.db.insert("outlook_calendar_votes", row | cast)
            elif before["response"] != vote["response"]:
                self.db.update("outlook_calendar_votes", before["id"], **cast)
        if changed and poll["organizer"] != voter:
            self.post("voted", poll["organizer"], self._said(poll), about=poll_id)
        return {"poll_id": poll_id, "votes_cast": len(votes), "status": "voted"}

    @writes(example=POLL, setup=(OFFSITE, YES), destructive=True)
    def finalize_poll(self, poll_id: PollId, slot_id: Winner | None = None) -> Json:
        """Close a poll that you made and schedule the meeting at its leading slot.

        Give slot_id to choose another slot.
        """
        poll = self._mine(poll_id)
        chosen = self._leading(poll) if slot_id is None else _slot(poll, slot_id)
        if chosen is None:
            code = "ERROR_SLOT_NOT_FOUND"
            message = f"The poll has no slot {slot_id!r}."
            if slot_id is None:
                code = "ERROR_NO_VOTES"
                message = "Nobody has voted yes or maybe yet."
            hint = "Choose a slot_id from get_scheduling_poll."
            self.fail(code, message, hint, poll_id=poll_id)
        if parse_time(chosen["start_at"]) <= self.now:
            self.fail(
                WORDS.bad_time,
                f"The slot at {chosen['start_at']} is in the past.",
                "Choose another slot_id.",
                slot_id=chosen["slot_id"],
            )
        people = edit.invite(self, [(address, None) for address in poll["attendees"]])
        event = self._schedule(poll, chosen, people)
        return {
            "poll_id": poll_id,
            "event_id": event["id"],
            "winning_slot": _slot_json(chosen),
            "status": "finalized",
        }

    @writes(example=POLL, setup=(OFFSITE,), destructive=True)
    def cancel_scheduling_poll(self, poll_id: PollId) -> Json:
        """Close a poll that you made without scheduling a meeting."""
        poll = self._mine(poll_id)
        self.db.update("outlook_calendar_polls", poll_id, closed_at=self.time)
        for address in poll["attendees"]:
            self.post("poll_cancelled", address, self._said(poll), about=poll_id)
        return {"poll_id": poll_id, "status": "cancelled"}

    @happens("outlook_calendar_polls.decides_at", where="closed_at IS NULL")
    def decide(self, poll: Row) -> None:
        """Let the organizer of somebody else's poll schedule the leading slot, if there is one."""
        chosen = self._leading(poll)
        if chosen is None or parse_time(chosen["start_at"]) <= self.now:
            self.db.update("outlook_calendar_polls", poll["id"], closed_at=self.time)
            return
        me = rules.me(self, WORDS)
        names = {me["email"]: me["name"]}
        people = edit.invite(self, [(who, names.get(who)) for who in poll["attendees"]])
        voted = next(s for s in self._tally(poll) if s["slot_id"] == chosen["slot_id"])["votes"]
        agreed = {v["voter"] for v in voted if v["response"] == "yes"} - {me["email"]}
        for person in people:
            if person["email"] in agreed:
                person["response"] = "accepted"
        mail.invited(self, WORDS, self._schedule(poll, chosen, people))

    def _schedule(self, poll: Row, slot: Row, people: list[Row]) -> Row:
        """Close a poll, and return the new event to which people are invited."""
        event = edit.new(
            self,
            WORDS,
            rules.calendar(self, WORDS, "primary", "writer"),
            organizer=poll["organizer"],
            title=poll["title"],
            attendees=people,
            reminders=QUARTER_HOUR,
            start_at=slot["start_at"],
            end_at=slot["end_at"],
            location=poll["location"],
        )
        self.db.update(
            "outlook_calendar_polls",
            poll["id"],
            closed_at=self.time,
            event_id=event["id"],
            slot_id=slot["slot_id"],
        )
        return event

    def _said(self, poll: Row) -> Json:
        return {
            "who": rules.me(self, WORDS)["name"],
            "title": poll["title"],
            "where": poll["location"],
            "minutes": poll["duration_minutes"],
            "times": [slot["start_at"] for slot in poll["slots"]],
        }

    # -- polls and their state ---------------------------------------------------------------------
    def _poll(self, poll_id: str) -> Row:
        row = self.db.get("outlook_calendar_polls", poll_id)
        if row is None:
            self.fail(
                "ERROR_POLL_NOT_FOUND",
                f"There is no poll {poll_id!r}.",
                "Use a poll_id from list_scheduling_polls.",
                poll_id=poll_id,
            )
        return row

    def _state(self, row: Row) -> str:
        if row["closed_at"] is not None:
            return "finalized" if row["event_id"] else "cancelled"
        return "open" if any(s["start_at"] > self.time for s in row["slots"]) else "expired"

    def _open(self, poll_id: str) -> dict[str, Any]:
        row = self._poll(poll_id)
        state = self._state(row)
        if state != "open":
            self.fail(
                "ERROR_POLL_CLOSED",
                f"The poll is {state}.",
                "Find open polls with list_scheduling_polls.",
                poll_id=poll_id,
                status=state,
            )
        return row

    def _mine(self, poll_id: str) -> dict[str, Any]:
        row = self._open(poll_id)
        if not rules.is_me(self, WORDS, row["organizer"]):
            self.fail(
                "ERROR_ACCESS_DENIED",
                f"The poll belongs to {row['organizer']}.",
                "You can vote in it with vote_on_poll.",
                poll_id=poll_id,
            )
        return row

    # -- votes -------------------------------------------------------------------------------------
    def _expected_vote(self, poll: Row, slot: Row, voter: str) -> str | None:
        """Return the vote that follows from a person's calendar, or None until they have voted."""
        person = self.db.get("calendar_people", voter)
        if person is None or rules.is_me(self, WORDS, voter):
            return None
        delay = FIRST_VOTES + int(share("vote", poll["id"], voter) * rules.DAY)
        votes_at = parse_time(poll["created_at"]) + delay
        if votes_at > min(self.now, parse_time(poll["closed_at"] or self.time)):
            return None
        first = parse_time(slot["start_at"])
        last = parse_time(slot["end_at"])
        statuses = {span.status for span in _busy.known_busy(self, voter, first, last)}
        if statuses & {"busy", "oof"}:
            return "no"
        fits = _busy.within(
            first,
            last,
            ZoneInfo(person["timezone"]),
            time(person["works_from"]),
            time(person["works_until"]),
        )
        return "yes" if fits and not statuses else "maybe"

    def _tally(self, poll: Row) -> list[dict[str, Any]]:
        """Return the slots of a poll with their votes and the number of yes, maybe and no votes."""
        cast = {
            (r["slot_id"], r["voter"]): r["response"]
            for r in self.db.rows("outlook_calendar_votes", "poll_id=?", poll["id"])
        }
        slots = []
        for slot in poll["slots"]:
            votes = []
            for voter in (poll["organizer"], *poll["attendees"]):
                response = cast.get((slot["slot_id"], voter))
                if response is None:
                    response = self._expected_vote(poll, slot, voter)
                if response is not None:
                    votes.append({"voter": voter, "response": response})
            counts = Counter(v["response"] for v in votes)
            numbers = {response: counts[response] for response in ("yes", "maybe", "no")}
            slots.append(_slot_json(slot) | numbers | {"votes": votes})
        return slots

    def _leading(self, poll: Row) -> dict[str, Any] | None:
        """Return the slot with the most yes, then the most maybe, then the earliest; or None."""
        liked = [s for s in self._tally(poll) if s["yes"] + s["maybe"] > 0]
        best = min(liked, key=lambda s: (-s["yes"], -s["maybe"], s["start"]), default=None)
        return None if best is None else _slot(poll, best["slot_id"])

    def _poll_json(self, row: Row) -> Json:
        leading = self._leading(row)
        return {
            "poll_id": row["id"],
            "title": row["title"],
            "status": self._state(row),
            "organizer": row["organizer"],
            "attendees": row["attendees"],
            "duration_minutes": row["duration_minutes"],
            "location": row["location"],
            "slots": self._tally(row),
            "leading_slot": leading["slot_id"] if leading else None,
            "winning_slot": row["slot_id"],
            "event_id": row["event_id"],
            "created_at": row["created_at"],
        }
