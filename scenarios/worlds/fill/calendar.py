"""Fill both calendars: happenings of the person's life, series, invitations, stale copies, rooms, polls, and who else is busy when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from email.utils import parseaddr
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder
from servers.calendar import _rules as rules
from servers.calendar._recurrence import starts
from servers.kit.errors import InputError
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment

PREFIXES = {"google_calendar": ("gcl", "gev"), "outlook_calendar": ("ocl", "oev")}
HOUR = 3600


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both providers and the calendars of others."""
    Others(builder, seeds).fill()
    books = {name: Book(builder, name, seeds[name]) for name in PREFIXES}
    for book in books.values():
        book.fill()
    _google(books["google_calendar"])
    _outlook(books["outlook_calendar"])


def held(builder: Builder, service: str, key: str) -> list[int]:
    """Return when a series took place until the start, for what others write about it (notes of meetings)."""
    seeds = builder.seeds("calendar")[service]
    said = next((s for s in seeds["series"] if s["key"] == key), None)
    if said is None:
        raise InputError(f"calendar.yaml: {service} has no series {key!r}")
    book = Book(builder, service, seeds)
    for happening in builder.life:
        if service in happening.get("event", {}).get("on", []):
            book.taken.append(book.when(happening))
    begin = builder.moment(said["at"])
    rule = _rule(said)
    found = starts(rule, begin, builder.zone, begin, builder.start) if rule else ()
    return [
        start for start in found if not book.dropped(said, start, int(said.get("hours", 1) * HOUR))
    ]


class Others:
    """Everybody whose calendar can be looked into."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds

    def fill(self) -> None:
        """Write people and what fills their time."""
        builder = self.builder
        since = self.builder.moment(self.seeds["since"])
        people = builder.person["people"] | self.seeds.get("colleagues", {})
        for key, who in people.items():
            works = self.seeds.get("works", {}).get(key, [9, 17])
            row = {
                "name": who["name"],
                "timezone": self.seeds.get("zones", {}).get(key, builder.person["timezone"]),
            }
            builder.add(
                since,
                "calendar_people",
                email=who["email"],
                works_from=works[0],
                works_until=works[1],
                **row,
            )
        for key, times in self.seeds.get("busy", {}).items():
            for number, said in enumerate(times):
                begin = builder.moment(said["at"])
                row = {
                    "start_at": iso(begin),
                    "end_at": iso(begin + int(said["hours"] * HOUR)),
                    "status": said.get("status", "busy"),
                }
                made = builder.id("cby", f"{key}-{number}")
                email = people[key]["email"]
                builder.add(
                    min(begin, builder.start),
                    "calendar_busy",
                    id=made,
                    email=email,
                    rule=_rule(said),
                    **row,
                )


def _rule(said: dict[str, Any]) -> dict[str, Any] | None:
    rule = said.get("rule")
    if rule is None:
        return None
    return {
        k: str(v) if k == "until" else v
        for k, v in ({"freq": rule} if isinstance(rule, str) else rule).items()
    }


class Book:
    """One provider's calendars and events."""

    def __init__(self, builder: Builder, service: str, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.service = service
        self.seeds = seeds
        self.people = builder.person["people"] | builder.seeds("calendar").get("colleagues", {})
        self.calendar_prefix, self.prefix = PREFIXES[service]
        self.email = builder.person["emails"][
            "personal" if service == "google_calendar" else "work"
        ]
        self.since = builder.moment(builder.seeds("calendar")["since"])
        self.primary = next(iter(seeds["calendars"]))
        self.taken: list[tuple[int, int]] = []
        self.full: list[tuple[int, int]] = []

    def id(self, key: str) -> str:
        """Return the id of an event by its key."""
        return self.builder.id(self.prefix, key)

    def calendar(self, key: str) -> str:
        """Return the id of a calendar by its key."""
        return self.builder.id(self.calendar_prefix, key)

    def fill(self) -> None:
        """Write profile, calendars and events; what was moved leaves a copy at its old time in the other provider."""
        who = self.builder.person
        row = {"name": who["name"], "email": self.email, "timezone": who["timezone"]}
        self.builder.add(self.since, f"{self.service}_profile", id="me", **row)
        for number, (key, said) in enumerate(self.seeds["calendars"].items()):
            owner = (
                self.people[said["owner"]]["email"]
                if said.get("owner") in self.people
                else said.get("owner", self.email)
            )
            row = {
                "name": said["name"],
                "owner": owner,
                "role": said.get("role", "owner"),
                "is_primary": number == 0,
            }
            at = self.since + number * HOUR
            self.builder.add(
                at, f"{self.service}_calendars", id=self.calendar(key), created_at=iso(at), **row
            )
        covered = {key for said in self.seeds.get("series", []) for key in said.get("covers", [])}
        for happening in self.builder.life:
            if "event" in happening and happening["key"] not in covered:
                self._happening(happening)
        for said in self.seeds.get("series", []):
            self.series(said)
        for said in self.seeds.get("events", []):
            self.event(said)
        for said in self.seeds.get("slots", []):
            begin = self.builder.moment(said["at"])
            self.full.append((begin, begin + said["count"] * said["minutes"] * 60))
        for said in self.seeds.get("loose", []):
            for row in self._scattered(said):
                self.event(row)

    def _zone(self, happening: dict[str, Any]) -> ZoneInfo:
        zones = {c["key"]: c["timezone"] for c in self.builder.person["cities"]}
        return ZoneInfo(zones.get(happening.get("city"), self.builder.person["timezone"]))

    def when(self, happening: dict[str, Any]) -> tuple[int, int]:
        """Return start and end of a happening; its time is that of its city."""
        begin = self.builder.moment(happening["at"], self._zone(happening))
        return begin, begin + int(happening.get("hours", 1) * HOUR)

    def dropped(self, said: dict[str, Any], start: int, length: int) -> bool:
        """Return whether an occurrence of a series was cancelled: by its seed, by chance, or because life came between."""
        day = local(start, self.builder.zone).date().isoformat()
        past = start < self.builder.start
        clash = past and any(a < start + length and b > start for a, b in self.taken)
        lapsed = past and self._drawn(said, day) < said.get("lapse", 0)
        return (
            day in {str(d) for d in said.get("skip", [])}
            or lapsed
            or bool(clash and said.get("yields"))
        )

    def _drawn(self, said: dict[str, Any], day: str) -> float:
        return self.builder.chance("series", self.service, said["key"], day).random()

    # -- happenings -----------------------------------------------------------------------------------------------
    def _happening(self, said: dict[str, Any]) -> None:
        aspect = said["event"]
        begin, end = self.when(said)
        length = end - begin
        place = said.get("place")
        shared = {
            "title": said["title"],
            "hours": length / HOUR,
            "note": aspect.get("note", ""),
            "guests": aspect.get("guests", []),
        }
        shared |= {
            "made": aspect.get("made")
            or local(min(begin - 7 * rules.DAY, self.builder.start), self.builder.zone).date()
        }
        if self.service == aspect["on"][0] or (
            self.service in aspect["on"] and not aspect.get("moved_from")
        ):
            self.taken.append((begin, begin + length))
            own = {
                k: m[said["key"]] for k, m in self.seeds.get("life", {}).items() if said["key"] in m
            }
            self.event(
                {
                    "key": said["key"],
                    "at": iso(begin),
                    "place": place,
                    "cancelled": aspect.get("cancelled"),
                }
                | shared
                | own
            )
        elif aspect.get("moved_from"):
            old = iso(self.builder.moment(aspect["moved_from"], self._zone(said)))
            copied = {
                "title": f"{said['title']} (copied)",
                "guests": [],
                "note": "Copied by hand.",
                "place": aspect.get("place_was", place),
            }
            self.event({"key": f"{said['key']}_copy", "at": old} | shared | copied)

    # -- single events --------------------------------------------------------------------------------------------
    def event(self, said: dict[str, Any], **extra: Any) -> None:
        """Write one event from its seed; see the header of the seeds for what it may say."""
        row = self._row(said)
        made = self._made(said)
        self.builder.add(made, f"{self.service}_events", **row, **extra)
        self._fills(row)
        if said.get("cancelled"):
            self._cancel(row["id"], self.builder.moment(said["cancelled"]))

    def _fills(self, row: dict[str, Any]) -> None:
        """Keep single events that come by chance out of an event's time, where it takes the person's own."""
        if row["show_as"] == "busy" and not row["all_day"] and row["organizer"] == self.email:
            self.full.append((parse_time(row["start_at"]), parse_time(row["end_at"])))

    def _cancel(self, event: str, at: int) -> None:
        at = min(at, self.builder.start)
        self.builder.change(
            at, f"{self.service}_events", event, cancelled_at=iso(at), updated_at=iso(at)
        )

    def _made(self, said: dict[str, Any]) -> int:
        begin = self.builder.moment(said["at"])
        made = (
            self.builder.moment(said["made"], bare=time(11))
            if said.get("made")
            else begin - 6 * rules.DAY
        )
        return max(self.since + 86_400, min(made, self.builder.start))

    def _row(self, said: dict[str, Any]) -> dict[str, Any]:
        builder = self.builder
        made = iso(self._made(said))
        if "days" in said:
            day = date.fromisoformat(str(said["at"]))
            begin, end = (
                local_moment(d, time(0), self.builder.zone)
                for d in (day, day + timedelta(days=said["days"]))
            )
        else:
            begin = builder.moment(said["at"])
            end = begin + int(said.get("hours", 1) * HOUR)
        calendar = said.get("cal", self.primary)
        owner = self.seeds["calendars"][calendar].get("owner")
        host = said.get("organizer") or owner
        organizer = self._person(host)[0] if host else self.email
        guests = [self._guest(g, said, made) for g in said.get("guests", [])]
        if said.get("organizer"):
            answer = said.get("answer", "accepted")
            mine = {
                "email": self.email,
                "name": builder.person["name"],
                "response": None if answer == "none" else answer,
            }
            guests = [g for g in guests if g["email"] != organizer] + [mine | {"invited_at": made}]
        minutes = said.get("remind", 30)
        place = said.get("place")
        shown = "free" if said.get("free") else said.get("show_as", "busy")
        row = {
            "id": self.id(said["key"]),
            "calendar_id": self.calendar(calendar),
            "title": said["title"],
            "description": said.get("note", ""),
            "location": said.get("where", "") if place is None else self.place(place),
            "start_at": iso(begin),
            "end_at": iso(end),
            "all_day": "days" in said,
            "recurrence": _rule(said),
            "organizer": organizer,
            "attendees": guests,
            "people": rules.people_text(guests),
            "reminders": []
            if minutes is None
            else [{"method": "popup", "minutes_before": minutes}],
            "show_as": shown,
            "online": said.get("online", False),
            "created_at": made,
            "updated_at": made,
        }
        if self.service == "outlook_calendar":
            room = said.get("room")
            row |= {
                "category": said.get("category"),
                "room_id": builder.id("orm", room) if room else None,
            }
        return row

    def _person(self, said: str) -> tuple[str, str | None]:
        if said in self.people:
            return self.people[said]["email"], self.people[said]["name"]
        name, email = parseaddr(said)
        if "@" not in email:
            raise InputError(f"calendar.yaml: {said!r} is nobody known")
        return email.lower(), name or None

    def _guest(self, said: str, event: dict[str, Any], made: str) -> dict[str, Any]:
        email, name = self._person(said)
        drawn = self.builder.chance("answer", self.service, event["key"], said).random()
        usual = (
            "accepted"
            if drawn < 0.82
            else ("tentative" if drawn < 0.9 else ("declined" if drawn < 0.95 else "needsAction"))
        )
        return {
            "email": email,
            "name": name,
            "invited_at": made,
            "response": event.get("answers", {}).get(said, usual),
        }

    def place(self, key: str) -> str:
        """Return a place as calendars write it."""
        said = self.builder.places[key]
        cities = {c["key"]: c["name"] for c in self.builder.person["cities"]}
        street = f", {said['street']}" if said.get("street") else ""
        return f"{said['name']}{street}, {cities.get(said['city'], said['city'])}"

    # -- series ---------------------------------------------------------------------------------------------------
    def series(self, said: dict[str, Any]) -> None:
        """Write a series, and occurrences that were cancelled or changed alone: those named, and some of the past by chance."""
        made = self._made(said)
        row = self._row(said)
        rule = row["recurrence"]
        begin = parse_time(row["start_at"])
        aligned = next(starts(rule, begin, self.builder.zone, begin, begin + 400 * rules.DAY), None)
        if aligned != begin:
            raise InputError(
                f"calendar.yaml: series {said['key']} does not begin on a day of its rule"
            )
        self.builder.add(made, f"{self.service}_events", **row)
        words = rules.Words(
            self.service, "", "_" if self.service == "google_calendar" else ".", *[""] * 8
        )
        moved = {str(d): m for d, m in said.get("moved", {}).items()}
        for start in starts(
            rule, begin, self.builder.zone, begin, self.builder.start + 200 * rules.DAY
        ):
            day = local(start, self.builder.zone).date().isoformat()
            part = rules.occurrence(words, row, start, self.builder.zone)
            length = parse_time(part["end_at"]) - start
            if self.dropped(said, start, length):
                self._apart(part, start - 20 * HOUR, cancelled_at=True)
                continue
            self._fills(part)
            if day in moved:
                change = moved.pop(day)
                columns = self._moved(part, change, start)
                self._apart(
                    part, self.builder.moment(change.get("made", day)) - 2 * rules.DAY, **columns
                )
            elif start < self.builder.start and self._drawn(said, day) > 1 - said.get("shift", 0):
                later = start + HOUR
                self._apart(
                    part, start - 26 * HOUR, start_at=iso(later), end_at=iso(later + length)
                )
        if moved:
            raise InputError(
                f"calendar.yaml: series {said['key']} has no occurrence on {', '.join(moved)}"
            )

    def _moved(self, part: dict[str, Any], change: dict[str, Any], start: int) -> dict[str, Any]:
        begin = self.builder.moment(change["at"]) if "at" in change else start
        length = parse_time(part["end_at"]) - start
        times = {
            "start_at": iso(begin),
            "end_at": iso(
                begin + int(change["hours"] * HOUR) if "hours" in change else begin + length
            ),
        }
        named = {"title": "title", "description": "note", "location": "where"}
        return times | {column: change[key] for column, key in named.items() if key in change}

    def _apart(self, part: dict[str, Any], at: int, **changes: Any) -> None:
        at = max(parse_time(part["created_at"]), min(at, self.builder.start))
        if changes.get("cancelled_at"):
            changes["cancelled_at"] = iso(at)
        self.builder.add(at, f"{self.service}_events", **(part | changes | {"updated_at": iso(at)}))

    # -- loose events ---------------------------------------------------------------------------------------------
    def _scattered(self, said: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield single events every so many days, where nothing of the person's life is at that time."""
        builder = self.builder
        day = date.fromisoformat(
            str(said.get("since", builder.seeds("calendar")["since"]))
        ) + timedelta(days=said.get("offset", 0))
        last = local(builder.start, self.builder.zone).date() + timedelta(days=said.get("ahead", 0))
        while day <= last:
            chance = builder.chance("loose", self.service, said["key"], day)
            on = day + timedelta(days=chance.randrange(said.get("jitter", 1)))
            while said.get("weekdays") and on.weekday() > 4:
                on += timedelta(days=1)
            begin = local_moment(
                on, time.fromisoformat(chance.choice(said["at"])), self.builder.zone
            )
            hours = chance.choice(said.get("hours", [1]))
            picked = {
                k: chance.choice(said[f"{k}s"])
                for k in ("title", "place", "note")
                if f"{k}s" in said
            }
            picked["guests"] = (
                chance.sample(said["people"], min(len(said["people"]), said.get("heads", 1)))
                if said.get("people")
                else []
            )
            gone = chance.random() < said.get("cancel", 0.06)
            early = chance.randrange(1, 12)
            if not any(
                a < begin + hours * HOUR and b > begin for a, b in (*self.taken, *self.full)
            ):
                names = ", ".join(self._person(g)[1] or g for g in picked["guests"])
                picked["title"] = picked["title"].replace("{name}", names)
                extra = {
                    k: said[k]
                    for k in ("cal", "category", "online", "where", "free", "remind")
                    if k in said
                }
                made = local(
                    min(begin, builder.start) - early * rules.DAY, self.builder.zone
                ).date()
                dropped = (
                    local(min(begin - 5 * HOUR, builder.start), self.builder.zone).strftime(
                        "%Y-%m-%dT%H:%M"
                    )
                    if gone
                    else None
                )
                yield (
                    {
                        "key": f"{said['key']}-{on}",
                        "at": iso(begin),
                        "hours": hours,
                        "made": made,
                        "cancelled": dropped,
                    }
                    | picked
                    | extra
                )
            day += timedelta(days=said["every"])


def _google(book: Book) -> None:
    builder = book.builder
    seeds = book.seeds
    for calendar, said in seeds["calendars"].items():
        for number, (who, role) in enumerate(said.get("share", {}).items()):
            at = book.since + rules.DAY * (3 + 11 * number)
            made = builder.id("gac", f"{calendar}-{who}")
            row = {
                "calendar_id": book.calendar(calendar),
                "email": book._person(who)[0],
                "role": role,
                "granted_at": iso(at),
            }
            builder.add(at, "google_calendar_acl", id=made, **row)
    for said in seeds.get("slots", []):
        at = builder.moment(said["made"])
        begin = builder.moment(said["at"])
        for number in range(said["count"]):
            start = begin + number * said["minutes"] * 60
            key = f"{said['key']}-{number}"
            end = start + said["minutes"] * 60
            row = {
                "calendar_id": book.calendar(said["cal"]),
                "title": said["title"],
                "description": said.get("note", ""),
            }
            times = {
                "location": book.place(said["place"]),
                "start_at": iso(start),
                "end_at": iso(end),
                "created_at": iso(at),
            }
            builder.add(at, "google_calendar_slots", id=builder.id("gsl", key), **row, **times)
            booked = said.get("booked", {}).get(number)
            if booked:
                when = builder.moment(booked["at"])
                event = {
                    "key": key,
                    "cal": said["cal"],
                    "title": said["title"],
                    "at": iso(start),
                    "hours": said["minutes"] / 60,
                }
                answers = {
                    "answers": {booked["by"]: "accepted"},
                    "guests": [booked["by"]],
                    "made": iso(when),
                }
                book.event(event | answers | {"place": said["place"], "note": said.get("note", "")})
                builder.change(
                    when, "google_calendar_slots", builder.id("gsl", key), event_id=book.id(key)
                )
    if seeds.get("hours"):
        builder.add(book.since, "google_calendar_hours", id="me", **seeds["hours"])


def _outlook(book: Book) -> None:
    builder = book.builder
    seeds = book.seeds
    for key, said in seeds["rooms"].items():
        builder.add(book.since, "outlook_calendar_rooms", id=builder.id("orm", key), **said)
    for number, said in enumerate(seeds["bookings"]):
        begin = builder.moment(said["at"])
        row = {
            "room_id": builder.id("orm", said["room"]),
            "title": said["title"],
            "organizer": book._person(said["by"])[0],
        }
        times = {
            "start_at": iso(begin),
            "end_at": iso(begin + int(said["hours"] * HOUR)),
            "rule": _rule(said),
        }
        builder.add(
            min(begin, builder.start),
            "outlook_calendar_bookings",
            id=builder.id("orb", str(number)),
            **row,
            **times,
        )
    for name, color in seeds["categories"].items():
        builder.add(book.since, "outlook_calendar_categories", name=name, color=color)
    builder.add(
        book.since,
        "outlook_calendar_hours",
        id="me",
        timezone=builder.person["timezone"],
        **seeds["hours"],
    )
    for said in seeds["polls"]:
        at = builder.moment(said["made"])
        minutes = said["minutes"]
        slots = []
        for number, text in enumerate(said["times"]):
            begin = builder.moment(text)
            times = {"start_at": iso(begin), "end_at": iso(begin + minutes * 60)}
            slots.append({"slot_id": builder.id("ols", f"{said['key']}-{number}")} | times)
        organizer = book._person(said["by"])[0] if said.get("by") else book.email
        asked = [book._person(p)[0] for p in said["asked"]] + (
            [book.email] if said.get("by") else []
        )
        made = builder.id("opl", said["key"])
        row = {
            "title": said["title"],
            "organizer": organizer,
            "attendees": asked,
            "slots": slots,
            "duration_minutes": minutes,
        }
        builder.add(
            at,
            "outlook_calendar_polls",
            id=made,
            location=said.get("where", ""),
            created_at=iso(at),
            **row,
        )
        for who, votes in said.get("votes", {}).items():
            voter = book.email if who == "me" else book._person(who)[0]
            for number, response in enumerate(votes):
                when = min(at + (5 + number) * HOUR // 2, builder.start)
                vote = {
                    "poll_id": made,
                    "slot_id": slots[number]["slot_id"],
                    "voter": voter,
                    "response": response,
                    "voted_at": iso(when),
                }
                builder.add(
                    when,
                    "outlook_calendar_votes",
                    id=builder.id("olv", f"{said['key']}-{who}-{number}"),
                    **vote,
                )
        if said.get("closed"):
            end = builder.moment(said["closed"])
            event = (
                {"event_id": book.id(said["event"]), "slot_id": slots[said["won"]]["slot_id"]}
                if said.get("event")
                else {}
            )
            builder.change(end, "outlook_calendar_polls", made, closed_at=iso(end), **event)
