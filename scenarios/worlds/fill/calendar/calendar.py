"""Fill both calendars from the person's life and from seeds.

They get happenings, series, invitations, stale copies, rooms and polls; other people get busy
times.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from email.utils import parseaddr
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder
from scenarios.worlds.fill.calendar._letters import Letters
from scenarios.worlds.fill.calendar._own import fill_google, fill_outlook
from scenarios.worlds.fill.calendar._seeds import HOUR, length_of, rule_of
from servers.calendar import _edit as edit
from servers.calendar import _rules as rules
from servers.calendar._recurrence import starts
from servers.calendar.google_calendar import _model as google
from servers.calendar.outlook_calendar import _model as outlook
from servers.kit.errors import InputError
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment

PREFIXES = {"google_calendar": ("gcl", "gev"), "outlook_calendar": ("ocl", "oev")}
WORDS = {"google_calendar": google.WORDS, "outlook_calendar": outlook.WORDS}
# Answers of guests; each is drawn below its number and above that of the one before.
USUAL_ANSWERS = (("accepted", 0.82), ("tentative", 0.9), ("declined", 0.95), ("needsAction", 1))


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both providers and the calendars of others."""
    Others(builder, seeds).fill()
    books = {name: Book(builder, name, seeds[name]) for name in PREFIXES}
    for book in books.values():
        book.fill()
    fill_google(books["google_calendar"])
    fill_outlook(books["outlook_calendar"])


def held(builder: Builder, service: str, key: str) -> list[int]:
    """Return when a series took place until the start, for notes of its meetings."""
    seeds = builder.seeds("calendar")[service]
    seed = next((s for s in seeds["series"] if s["key"] == key), None)
    if seed is None:
        raise InputError(f"calendar.yaml: {service} has no series {key!r}")
    book = Book(builder, service, seeds)
    for happening in builder.life:
        if service in happening.get("event", {}).get("on", []):
            book.life_spans.append(book.when(happening))
    begin = builder.moment(seed["at"])
    length = length_of(seed)
    rule = rule_of(seed)
    times = starts(rule, begin, builder.zone, begin, builder.start) if rule else ()
    return [start for start in times if not book.dropped(seed, start, length)]


class Others:
    """Everyone whose calendar can be looked into."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds

    def fill(self) -> None:
        """Write people and their busy times."""
        builder = self.builder
        since = self.builder.moment(self.seeds["since"])
        people = builder.person["people"] | self.seeds.get("colleagues", {})
        for key, who in people.items():
            works_from, works_until = self.seeds.get("works", {}).get(key, [9, 17])
            builder.add(
                since,
                "calendar_people",
                email=who["email"],
                works_from=works_from,
                works_until=works_until,
                name=who["name"],
                timezone=self.seeds.get("zones", {}).get(key, builder.person["timezone"]),
            )
        for key, times in self.seeds.get("busy", {}).items():
            for number, seed in enumerate(times):
                begin = builder.moment(seed["at"])
                builder.add(
                    min(begin, builder.start),
                    "calendar_busy",
                    id=builder.id("cby", f"{key}-{number}"),
                    email=people[key]["email"],
                    rule=rule_of(seed),
                    start_at=iso(begin),
                    end_at=iso(begin + length_of(seed)),
                    status=seed.get("status", "busy"),
                )


class Book:
    """One provider's calendars and events."""

    def __init__(self, builder: Builder, service: str, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.service = service
        self.seeds = seeds
        self.people = builder.person["people"] | builder.seeds("calendar").get("colleagues", {})
        self.calendar_prefix, self.prefix = PREFIXES[service]
        emails = builder.person["emails"]
        self.email = emails["personal"] if service == "google_calendar" else emails["work"]
        names = {person["email"]: person["name"] for person in self.people.values()}
        self.letters = Letters(builder, service, self.email, names)
        self.since = builder.moment(builder.seeds("calendar")["since"])
        builder.stands(self.since, hours=6)
        self.primary = next(iter(seeds["calendars"]))
        self.life_spans: list[tuple[int, int]] = []
        self.event_spans: list[tuple[int, int]] = []
        self.rows: dict[str, dict[str, Any]] = {}

    def id(self, key: str) -> str:
        """Return the id of an event by its key."""
        return self.builder.id(self.prefix, key)

    def calendar(self, key: str) -> str:
        """Return the id of a calendar by its key."""
        return self.builder.id(self.calendar_prefix, key)

    def fill(self) -> None:
        """Write profile, calendars and events.

        An event that was moved leaves a copy at its old time in the other provider.
        """
        who = self.builder.person
        row = {"name": who["name"], "email": self.email, "timezone": who["timezone"]}
        self.builder.add(self.since, f"{self.service}_profile", id="me", **row)
        for number, (key, seed) in enumerate(self.seeds["calendars"].items()):
            owner = seed.get("owner", self.email)
            at = self.since + number * HOUR
            self.builder.add(
                at,
                f"{self.service}_calendars",
                id=self.calendar(key),
                created_at=iso(at),
                name=seed["name"],
                owner=self.people[owner]["email"] if owner in self.people else owner,
                role=seed.get("role", "owner"),
                is_primary=number == 0,
            )
        self._fill_events()

    def _fill_events(self) -> None:
        """Write the events; loose ones come last, as they must not overlap the others."""
        covered: set[str] = set()
        for seed in self.seeds.get("series", []):
            covered.update(seed.get("covers", []))
        for happening in self.builder.life:
            if "event" in happening and happening["key"] not in covered:
                self._happening(happening)
        for seed in self.seeds.get("series", []):
            self.series(seed)
        for seed in self.seeds.get("events", []):
            self.event(seed)
        for seed in self.seeds.get("slots", []):
            begin = self.builder.moment(seed["at"])
            self.event_spans.append((begin, begin + seed["count"] * seed["minutes"] * 60))
        for seed in self.seeds.get("loose", []):
            for row in self._scattered(seed):
                self.event(row)
        for happening in self.builder.ahead:
            self._ahead(happening)

    def _ahead(self, happening: dict[str, Any]) -> None:
        """Date an invitation that comes after the start, or what an organizer changes then."""
        aspect = happening.get("event", {})
        if aspect.get("on") != self.service:
            return
        if "made" in aspect:
            if happening["key"] in self.rows:
                raise InputError(f"ahead.yaml: {happening['key']} is in {self.service} already")
            self.event(aspect | {"key": happening["key"], "answer": "none", "ahead": True})
            return
        row = self.rows.get(happening["key"])
        if row is None or row["organizer"] == self.email:
            raise InputError(
                f"ahead.yaml: {happening['key']} is no event that others organize in {self.service}"
            )
        told = self.builder.moment(aspect["told"])
        changes: dict[str, Any] = {"updated_at": iso(told)}
        if "to" in aspect:
            begin = self.builder.moment(aspect["to"])
            length = parse_time(row["end_at"]) - parse_time(row["start_at"])
            asked = {"response": None, "invited_at": iso(told)}
            changes |= {
                "start_at": iso(begin),
                "end_at": iso(begin + length),
                "attendees": [guest | asked for guest in row["attendees"]],
            }
            self.letters.changed(row | changes, told, row)
        else:
            changes["cancelled_at"] = iso(told)
            self.letters.cancelled(row, told)
        self.builder.change_later(told, f"{self.service}_events", row["id"], **changes)

    def _zone(self, happening: dict[str, Any]) -> ZoneInfo:
        zones = {c["key"]: c["timezone"] for c in self.builder.person["cities"]}
        return ZoneInfo(zones.get(happening.get("city"), self.builder.person["timezone"]))

    def when(self, happening: dict[str, Any]) -> tuple[int, int]:
        """Return start and end of a happening, whose time is in its city's time zone."""
        begin = self.builder.moment(happening["at"], self._zone(happening))
        return begin, begin + length_of(happening)

    def dropped(self, seed: dict[str, Any], start: int, length: int) -> bool:
        """Return whether an occurrence of a series was cancelled.

        That is by its seed, by chance, or because something else in the person's life got in the
        way.
        """
        day = local(start, self.builder.zone).date().isoformat()
        if day in {str(d) for d in seed.get("skip", [])}:
            return True
        if start >= self.builder.start:
            return False
        held = {str(d) for d in seed.get("held", [])}
        if day not in held and self._drawn(seed, day) < seed.get("lapse", 0):
            return True
        end = start + length
        return bool(seed.get("yields")) and _any_overlap(self.life_spans, start, end)

    def _drawn(self, seed: dict[str, Any], day: str) -> float:
        return self.builder.chance("series", self.service, seed["key"], day).random()

    # -- happenings --------------------------------------------------------------------------------
    def _happening(self, happening: dict[str, Any]) -> None:
        """Write a happening, or its stale copy in the provider where it was not moved."""
        aspect = happening["event"]
        key = happening["key"]
        begin, end = self.when(happening)
        week_before = min(begin - 7 * rules.DAY, self.builder.start)
        shared = {
            "title": happening["title"],
            "hours": (end - begin) / HOUR,
            "note": aspect.get("note", ""),
            "guests": aspect.get("guests", []),
            "with": happening.get("with", []),
            "made": aspect.get("made") or local(week_before, self.builder.zone).date(),
        }
        moved_from = aspect.get("moved_from")
        if self.service == aspect["on"][0] or (self.service in aspect["on"] and not moved_from):
            self.life_spans.append((begin, end))
            event = {
                "key": key,
                "at": iso(begin),
                "place": happening.get("place"),
                "cancelled": aspect.get("cancelled"),
            }
            own = {k: m[key] for k, m in self.seeds.get("life", {}).items() if key in m}
            self.event(event | shared | own)
        elif moved_from:
            copy = {
                "key": f"{key}_copy",
                "at": iso(self.builder.moment(moved_from, self._zone(happening))),
                "title": f"{happening['title']} (copied)",
                "guests": [],
                "note": "Copied by hand.",
                "place": aspect.get("place_was", happening.get("place")),
            }
            self.event(shared | copy)

    # -- single events -----------------------------------------------------------------------------
    def event(self, seed: dict[str, Any], **extra: Any) -> None:
        """Write one event from its seed; the header of the seeds lists its fields."""
        row = self._row(seed)
        created_at = self._created(seed)
        self.builder.arrive(created_at, f"{self.service}_events", **row, **extra)
        self.rows[seed["key"]] = row
        self.letters.made(row)
        if created_at <= self.builder.start:
            self._fills(row)
        if seed.get("cancelled"):
            at = min(self.builder.moment(seed["cancelled"]), self.builder.start)
            self._cancel(row["id"], at)
            self.letters.cancelled(row, at)

    def _fills(self, row: dict[str, Any]) -> None:
        """Keep loose events out of an event's time if it takes up the person's own."""
        if row["show_as"] == "busy" and not row["all_day"] and row["organizer"] == self.email:
            self.event_spans.append((parse_time(row["start_at"]), parse_time(row["end_at"])))

    def _cancel(self, event: str, at: int) -> None:
        self.builder.change(
            at, f"{self.service}_events", event, cancelled_at=iso(at), updated_at=iso(at)
        )

    def _created(self, seed: dict[str, Any]) -> int:
        if seed.get("made"):
            created_at = self.builder.moment(seed["made"], bare=time(11))
        else:
            created_at = self.builder.moment(seed["at"]) - 6 * rules.DAY
        if seed.get("ahead"):
            return created_at
        return max(self.since + rules.DAY, min(created_at, self.builder.start))

    def _row(self, seed: dict[str, Any]) -> dict[str, Any]:
        builder = self.builder
        created_at = iso(self._created(seed))
        if "days" in seed:
            day = date.fromisoformat(str(seed["at"]))
            begin = local_moment(day, time(0), builder.zone)
            end = local_moment(day + timedelta(days=seed["days"]), time(0), builder.zone)
        else:
            begin = builder.moment(seed["at"])
            end = begin + length_of(seed)
        calendar = seed.get("cal", self.primary)
        owner = self.seeds["calendars"][calendar].get("owner")
        host = seed.get("organizer") or owner
        organizer = self.address(host)[0] if host else self.email
        guests = [self._guest(g, seed, created_at) for g in seed.get("guests", [])]
        if seed.get("organizer"):
            answer = seed.get("answer", "accepted")
            me = {
                "email": self.email,
                "name": builder.person["name"],
                "response": None if answer == "none" else answer,
                "invited_at": created_at,
            }
            guests = [g for g in guests if g["email"] != organizer] + [me]
        minutes = seed.get("remind", 30)
        reminders = [] if minutes is None else [{"method": "popup", "minutes_before": minutes}]
        place = seed.get("place")
        row = {
            "id": self.id(seed["key"]),
            "calendar_id": self.calendar(calendar),
            "title": seed["title"],
            "description": seed.get("note", ""),
            "location": seed.get("where", "") if place is None else self.place(place),
            "start_at": iso(begin),
            "end_at": iso(end),
            "all_day": "days" in seed,
            "recurrence": rule_of(seed),
            "organizer": organizer,
            "attendees": guests,
            "people": edit.people_text(guests),
            "reminders": reminders,
            "show_as": "free" if seed.get("free") else seed.get("show_as", "busy"),
            "online": seed.get("online", False),
            "created_at": created_at,
            "updated_at": created_at,
        }
        if self.service == "outlook_calendar":
            room = seed.get("room")
            row |= {
                "category": seed.get("category"),
                "room_id": builder.id("orm", room) if room else None,
            }
        return row

    def address(self, who: str) -> tuple[str, str | None]:
        """Return the email and name of a person, who is given by key or by address."""
        if who in self.people:
            return self.people[who]["email"], self.people[who]["name"]
        name, email = parseaddr(who)
        if "@" not in email:
            raise InputError(f"calendar.yaml: {who!r} is not a known person")
        return email.lower(), name or None

    def _guest(self, who: str, event: dict[str, Any], invited_at: str) -> dict[str, Any]:
        email, name = self.address(who)
        drawn = self.builder.chance("answer", self.service, event["key"], who).random()
        response = next(answer for answer, below in USUAL_ANSWERS if drawn < below)
        if response == "declined" and who in event.get("with", []):
            response = "accepted"
        return {
            "email": email,
            "name": name,
            "invited_at": invited_at,
            "response": event.get("answers", {}).get(who, response),
        }

    def place(self, key: str) -> str:
        """Return a place as calendars write it."""
        place = self.builder.places[key]
        cities = {c["key"]: c["name"] for c in self.builder.person["cities"]}
        street = f", {place['street']}" if place.get("street") else ""
        return f"{place['name']}{street}, {cities.get(place['city'], place['city'])}"

    # -- series ------------------------------------------------------------------------------------
    def series(self, seed: dict[str, Any]) -> None:
        """Write a series, and the occurrences that were cancelled or changed alone.

        Those are the ones that the seed names, and some past ones by chance.
        """
        created_at = self._created(seed)
        row = self._row(seed)
        rule = row["recurrence"]
        begin = parse_time(row["start_at"])
        aligned = next(starts(rule, begin, self.builder.zone, begin, begin + 400 * rules.DAY), None)
        if aligned != begin:
            raise InputError(
                f"calendar.yaml: series {seed['key']} does not begin on a day of its rule"
            )
        self.builder.add(created_at, f"{self.service}_events", **row)
        self.letters.made(row)
        moved = {str(d): m for d, m in seed.get("moved", {}).items()}
        horizon = self.builder.start + 200 * rules.DAY
        for start in starts(rule, begin, self.builder.zone, begin, horizon):
            day = local(start, self.builder.zone).date().isoformat()
            part = rules.occurrence(WORDS[self.service], row, start, self.builder.zone)
            length = parse_time(part["end_at"]) - start
            if self.dropped(seed, start, length):
                self._apart(part, start - 20 * HOUR, cancelled_at=True)
                continue
            self._fills(part)
            if day in moved:
                change = moved.pop(day)
                at = self.builder.moment(change.get("made", day)) - 2 * rules.DAY
                self._apart(part, at, **self._moved(part, change, start))
            elif start < self.builder.start and self._drawn(seed, day) > 1 - seed.get("shift", 0):
                later = start + HOUR
                times = {"start_at": iso(later), "end_at": iso(later + length)}
                self._apart(part, start - 26 * HOUR, **times)
        if moved:
            raise InputError(
                f"calendar.yaml: series {seed['key']} has no occurrence on {', '.join(moved)}"
            )

    def _moved(self, part: dict[str, Any], change: dict[str, Any], start: int) -> dict[str, Any]:
        begin = self.builder.moment(change["at"]) if "at" in change else start
        length = parse_time(part["end_at"]) - start
        if "hours" in change:
            length = length_of(change)
        times = {"start_at": iso(begin), "end_at": iso(begin + length)}
        named = {"title": "title", "description": "note", "location": "where"}
        return times | {column: change[key] for column, key in named.items() if key in change}

    def _apart(self, part: dict[str, Any], at: int, **changes: Any) -> None:
        at = max(parse_time(part["created_at"]), min(at, self.builder.start))
        if changes.get("cancelled_at"):
            changes["cancelled_at"] = iso(at)
            self.letters.cancelled(part, at)
        else:
            self.letters.changed(part | changes, at, part)
        self.builder.add(at, f"{self.service}_events", **(part | changes | {"updated_at": iso(at)}))

    # -- loose events ------------------------------------------------------------------------------
    def _scattered(self, seed: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield single events every so many days, at times when the person has nothing else."""
        zone = self.builder.zone
        since = str(seed.get("since", self.builder.seeds("calendar")["since"]))
        day = date.fromisoformat(since) + timedelta(days=seed.get("offset", 0))
        last = local(self.builder.start, zone).date() + timedelta(days=seed.get("ahead", 0))
        while day <= last:
            event = self._loose(seed, day)
            begin = parse_time(event["at"])
            end = begin + int(event["hours"] * HOUR)
            if not _any_overlap([*self.life_spans, *self.event_spans], begin, end):
                yield event
            day += timedelta(days=seed["every"])

    def _loose(self, seed: dict[str, Any], day: date) -> dict[str, Any]:
        """Return the seed of one loose event. The order of the draws determines every row."""
        zone = self.builder.zone
        start = self.builder.start
        chance = self.builder.chance("loose", self.service, seed["key"], day)
        on = day + timedelta(days=chance.randrange(seed.get("jitter", 1)))
        while seed.get("weekdays") and on.weekday() > 4:
            on += timedelta(days=1)
        begin = local_moment(on, time.fromisoformat(chance.choice(seed["at"])), zone)
        event = {"key": f"{seed['key']}-{on}", "at": iso(begin), "guests": []}
        event["hours"] = chance.choice(seed.get("hours", [1]))
        for field in ("title", "place", "note"):
            if f"{field}s" in seed:
                event[field] = chance.choice(seed[f"{field}s"])
        if seed.get("people"):
            heads = min(len(seed["people"]), seed.get("heads", 1))
            event["guests"] = chance.sample(seed["people"], heads)
        if chance.random() < seed.get("cancel", 0.06):
            cancelled_at = local(min(begin - 5 * HOUR, start), zone)
            event["cancelled"] = cancelled_at.strftime("%Y-%m-%dT%H:%M")
        early = chance.randrange(1, 12)
        event["made"] = local(min(begin, start) - early * rules.DAY, zone).date()
        names = ", ".join(self.address(g)[1] or g for g in event["guests"])
        event["title"] = event["title"].replace("{name}", names)
        for field in ("cal", "category", "online", "where", "free", "remind"):
            if field in seed:
                event[field] = seed[field]
        return event


def _any_overlap(spans: list[tuple[int, int]], first: int, last: int) -> bool:
    return any(rules.overlap(start, end, first, last) for start, end in spans)
