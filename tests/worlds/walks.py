"""A person's world as an agent sees it.

All services share one session, and lists are read to their last page.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder, person, shared
from servers.kit.control import Control
from servers.kit.service import services
from servers.kit.session import Session
from servers.kit.values import cents, iso, parse_time
from tests import support

Row = dict[str, Any]
SHOPS = {
    "amazon": ("list_orders", "get_order_details"),
    "walmart": ("list_purchases", "get_purchase_details"),
    "target": ("list_order_history", "get_order_info"),
    "instacart": ("list_orders", "get_order_status"),
    "uber_eats": ("get_order_history", "get_order"),
    "doordash": ("get_dash_history", "get_dash"),
    "booking": ("list_bookings", "get_booking"),
    "expedia": ("list_trips", "get_itinerary"),
}
"""Where things are ordered or booked: the tool that lists them, and the one that shows details."""
_RIDES = {"uber": ("list_rides", "get_ride"), "lyft": ("list_trip_history", "get_trip")}
TIMES = {"google_calendar": ("start_time", "end_time"), "outlook_calendar": ("start", "end")}
"""The calendars' names for the start and the end of an event."""


def figure(amount: float) -> str:
    """Return an amount as people write it: 1,288.00."""
    return f"{amount:,.2f}"


def _organizer(event: Row) -> str:
    organizer = event["organizer"]
    return organizer if isinstance(organizer, str) else organizer["email"]


def _ride(row: Row) -> Row:
    if "receipt" in row:
        fee = cents(row["receipt"]["cancellation_fee"]) if row["canceled_at"] else None
        return {
            "from": row["pickup"]["address"],
            "to": row["dropoff"]["address"],
            "at": row["scheduled_time"] or row["requested_at"],
            "fare": row["receipt"]["fare"] or row["fare_total"],
            "tip": row["receipt"]["tip"],
            "kind": row["ride_type_id"],
            "cancelled": fee,
        }
    charged = {c["kind"]: cents(c["amount"]) for c in row["charges"]}
    return {
        "from": row["origin"]["display_name"],
        "to": row["destination"]["display_name"],
        "at": row["pickup_time"] if row["scheduled_ride_id"] else row["requested_at"],
        "fare": row["fare_total"],
        "tip": row["tip_amount"],
        "kind": row["plan"] if row["plan"] != "standard" else row["ride_type_id"],
        "cancelled": charged.get("cancellation_fee", 0) if row["canceled"] else None,
    }


class Walk:
    """One session over all services of a person; everything it returns comes from a tool."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.person = person(name)
        self.start = parse_time(self.person["start"])
        self.session = Session(tuple(services()), shared(name).share(), Control(self.start, 0))
        self.zones = {c["key"]: ZoneInfo(c["timezone"]) for c in self.person["cities"]}
        self.home = ZoneInfo(self.person["timezone"])
        self._lists: dict[str, list[Row]] = {}

    # -- what life says ---------------------------------------------------------------------------
    @property
    def life(self) -> list[Row]:
        """What happened and what is planned, for tests that go over all of it."""
        return Builder(self.name, self.person).life

    @property
    def places(self) -> dict[str, Row]:
        """The places of the person's cities."""
        return Builder(self.name, self.person).places

    def zone(self, city: str | None) -> ZoneInfo:
        """Return a city's time zone, by default that of the person's home."""
        return self.zones.get(city or "", self.home)

    def moment(self, text: str, city: str | None = None) -> int:
        """Return the moment of a local time in epoch seconds."""
        return int(datetime.fromisoformat(text).replace(tzinfo=self.zone(city)).timestamp())

    def at_home(self, text: str, city: str | None = None) -> str:
        """Convert a city's local time to the local time at home."""
        return self.local(iso(self.moment(text, city)))

    def local(self, text: str, city: str | None = None) -> str:
        """Return a moment from a reply in a city's local time, as `2026-03-14T09:00`."""
        return datetime.fromtimestamp(parse_time(text), self.zone(city)).strftime("%Y-%m-%dT%H:%M")

    def day(self, text: str, city: str | None = None) -> str:
        """Return the local date of a moment from a reply."""
        return self.local(text, city)[:10]

    # -- tools ------------------------------------------------------------------------------------
    async def call_ok(self, tool: str, **args: Any) -> Row:
        """Return the reply of a tool, given as `service.tool`; an error fails the test."""
        service, _, name = tool.partition(".")
        return await support.call_ok(self.session, service, name, **args)

    async def all(self, tool: str, of: str | None = None, **args: Any) -> list[Row]:
        """Return the items on all pages of a list, which is read only once.

        `of` names the list if a reply has several.
        """
        key = f"{tool}{sorted(args.items())}"
        if key not in self._lists:
            self._lists[key] = await self._pages(tool, of, args)
        return list(self._lists[key])

    async def _pages(self, tool: str, of: str | None, args: Row) -> list[Row]:
        service, _, name = tool.partition(".")
        takes = self.session.classes[service].tools[name].schema.get("properties", {})
        wanted = dict(args)
        for size in ("max_results", "limit"):
            if size in takes:
                wanted[size] = takes[size].get("maximum", 100)
        rows: list[Row] = []
        while True:
            page = await self.call_ok(tool, **wanted)
            lists = [k for k, v in page.items() if isinstance(v, list)]
            assert of in lists or len(lists) == 1, (tool, lists)
            rows += page[of or lists[0]]
            if page.get("next_cursor") is None:
                return rows
            wanted["cursor"] = page["next_cursor"]

    async def one(self, tool: str, fits: Callable[[Row], Any], **args: Any) -> Row:
        """Return the only item of a list that fits."""
        rows = await self.all(tool, **args)
        fitting = [r for r in rows if fits(r)]
        assert len(fitting) == 1, (tool, args, len(rows), fitting)
        return fitting[0]

    async def whole(self, service: str, fits: Callable[[Row], Any]) -> Row:
        """Return the details of the only order or booking that fits.

        `fits` is given its line in the list.
        """
        listing, telling = SHOPS[service]
        line = await self.one(f"{service}.{listing}", fits)
        key = next(k for k in ("order_id", "booking_id") if k in line)
        return line | await self.call_ok(f"{service}.{telling}", **{key: line[key]})

    # -- rides and weather ------------------------------------------------------------------------
    async def rides(self, service: str, city: str | None = None) -> list[Row]:
        """Return rides as {from, to, at, fare, tip, kind, cancelled}.

        Times are local to a city; `cancelled` is the fee or None.
        """
        listing, telling = _RIDES[service]
        rides = []
        for line in await self.all(f"{service}.{listing}"):
            told = await self.call_ok(f"{service}.{telling}", ride_id=line["ride_id"])
            rides.append(_ride(told))
        return [ride | {"at": self.local(ride["at"], city)} for ride in rides]

    async def ride(self, service: str, at: str, city: str | None = None) -> Row:
        """Return the only ride requested or scheduled at a local time."""
        rides = [r for r in await self.rides(service, city) if r["at"] == at]
        assert len(rides) == 1, (service, at, rides)
        return rides[0]

    async def skies(self, place: str, day: str) -> set[str]:
        """Return what both weather services say about a day, in the past or the future."""
        if day < self.local(iso(self.start))[:10]:
            past = [
                await self.call_ok(tool, location=place, date=day)
                for tool in ("weather_com.get_historical_weather", "yahoo_weather.get_past_weather")
            ]
            return {p["condition"] for p in past}
        ten = await self.call_ok("weather_com.get_daily_forecast", location=place, days=10)
        five = await self.call_ok("yahoo_weather.get_5day_forecast", location=place)
        days = [d for d in [*ten["days"], *five["days"]] if d["date"] == day]
        return {d.get("condition") or d["condition_day"] for d in days}

    # -- calendars --------------------------------------------------------------------------------
    async def events(self, service: str, title: str) -> list[Row]:
        """Return the events with a title; a series appears once.

        An event is {title, at, end, where, room, note, guests, declined, made}.
        """
        tools = {"google_calendar": "search_events", "outlook_calendar": "find_events"}
        rows = await self.all(f"{service}.{tools[service]}", query=title)
        return [self._event(r, *TIMES[service]) for r in rows if r["title"] == title]

    async def event(self, service: str, title: str) -> Row:
        """Return the only event with a title."""
        events = await self.events(service, title)
        assert len(events) == 1, (service, title, events)
        return events[0]

    async def between(self, service: str, day: str, city: str | None = None) -> list[Row]:
        """Return the events that begin on a local day in a calendar.

        All-day events are left out.
        """
        after = date.fromisoformat(day) + timedelta(days=1)
        start = iso(self.moment(f"{day}T00:00", city))
        end = iso(self.moment(f"{after}T00:00", city))
        if service == "google_calendar":
            rows = await self.all("google_calendar.list_events", time_min=start, time_max=end)
        else:
            rows = await self.all("outlook_calendar.get_events", start_date=start, end_date=end)
        begins, ends = TIMES[service]
        return [self._event(r, begins, ends) for r in rows if "T" in r[begins]]

    @staticmethod
    def _event(row: Row, start: str, end: str) -> Row:
        return {
            "title": row["title"],
            "at": row[start],
            "end": row[end],
            "where": row["location"],
            "room": row.get("room"),
            "note": row["description"],
            "guests": {a["email"] for a in row["attendees"]} | {_organizer(row)},
            "declined": {a["email"] for a in row["attendees"] if "declined" in a.values()},
            "made": row["created_at"],
        }

    # -- money ------------------------------------------------------------------------------------
    async def payments(self, service: str) -> list[Row]:
        """Return what was sent, received or requested through Venmo or Zelle."""
        asked = "venmo.list_requests" if service == "venmo" else "zelle.list_transfer_requests"
        moved = "venmo.list_transactions" if service == "venmo" else "zelle.list_transfers"
        return [r for r in [*await self.all(moved), *await self.all(asked)] if r["contact"]]

    async def payments_with(self, service: str, name: str) -> list[Row]:
        """Return payments to and from someone, and requests, by their display name."""
        return [r for r in await self.payments(service) if r["contact"]["name"] == name]

    async def shares(self, total: int, note: str) -> list[Row]:
        """Return the requests by which a bill, in cents, was split on Venmo."""
        requests = await self.all("venmo.list_requests")
        asked = [r for r in requests if r["note"] == note]
        asked = [r for r in asked if r["group_payment_id"]]
        (group,) = {r["group_payment_id"] for r in asked}
        reply = await self.call_ok("venmo.get_group_payment", group_payment_id=group)
        assert cents(reply["total_amount"]) == total, reply
        return asked

    # -- mail -------------------------------------------------------------------------------------
    async def mailbox(self, email: str) -> str:
        """Sign in to one of the person's mailboxes and return its service."""
        for service, listing, switch in (
            ("gmail", "gmail.list_accounts", "gmail.switch_user"),
            ("outlook", "outlook.list_profiles", "outlook.set_active_user"),
        ):
            accounts = (await self.call_ok(listing))["accounts"]
            if any(account["email_address"] == email for account in accounts):
                await self.call_ok(switch, username=email)
                return service
        raise AssertionError(f"no mailbox {email}")

    async def mails(self, account: str, words: str) -> list[Row]:
        """Return the full mails that match all words; `account` is a key of the person's emails."""
        service = await self.mailbox(self.person["emails"][account])
        searching, telling = {
            "gmail": ("gmail.search_emails", "gmail.get_email"),
            "outlook": ("outlook.query_mail_items", "outlook.get_mail_item"),
        }[service]
        # What was read before may have come from another mailbox of the same service.
        self._lists = {k: v for k, v in self._lists.items() if not k.startswith(service)}
        rows = await self.all(searching, query=words)
        return [await self.call_ok(telling, email_id=row["email_id"]) for row in rows]

    async def letters(self, account: str, words: str, sender: str) -> list[Row]:
        """Return the mails from a sender that match all words, oldest first; there must be one.

        The sender is the key of a person, or an address.
        """
        address = sender
        if sender in self.person["people"]:
            address = self.person["people"][sender]["email"]
        mails = [m for m in await self.mails(account, words) if m["from"] == address]
        assert mails, (account, words, sender)
        return sorted(mails, key=lambda m: m["created_at"])

    async def mail_from(self, account: str, words: str, sender: str) -> Row:
        """Return the first mail from an address in a search for all words."""
        return next(m for m in await self.mails(account, words) if m["from"] == sender)

    async def letter(self, account: str, words: str, sender: str, text: str) -> Row:
        """Return the oldest mail from a sender that matches all words and contains a text."""
        letters = await self.letters(account, words, sender)
        return next(m for m in letters if text in m["body"])

    async def mail(self, account: str, words: str, subject: str) -> Row:
        """Return the only mail with a subject among those that match all words."""
        mails = await self.mails(account, words)
        fitting = [m for m in mails if m["subject"] == subject]
        assert len(fitting) == 1, (account, words, [m["subject"] for m in mails])
        return fitting[0]

    # -- reviews ----------------------------------------------------------------------------------
    async def my_review(self, service: str, name: str) -> Row:
        """Return the person's only review of a place as {rating, text, day, place}.

        `place` holds the site's details of the place.
        """
        if service == "google_map_review":
            listing = "get_my_reviews"
            telling = "get_place_details"
            title = "place_name"
            at = "published_at"
        else:
            listing = "get_my_yelp_reviews"
            telling = "get_business"
            title = "business_name"
            at = "created_at"
        written = await self.one(f"{service}.{listing}", lambda r: r[title] == name)
        place = await self.call_ok(f"{service}.{telling}", business_id=written["business_id"])
        return {
            "rating": written["rating"],
            "text": written["text"],
            "day": self.day(written[at]),
            "place": place,
        }

    # -- music ------------------------------------------------------------------------------------
    async def playlist(self, name: str) -> Row:
        """Return the only Spotify playlist with a name."""
        return await self.one("spotify.get_user_playlists", lambda p: p["name"] == name)

    async def played_on(self, playlist: Row, day: str) -> set[str]:
        """Return the track_ids of a Spotify playlist that were played on a local day."""
        plays = await self.all("spotify.get_recently_played")
        heard = {p["track_id"] for p in plays if self.day(p["played_at"]) == day}
        tracks = await self.all(
            "spotify.fetch_playlist", "tracks", playlist_id=playlist["playlist_id"]
        )
        return heard & {t["track_id"] for t in tracks}

    # -- texts ------------------------------------------------------------------------------------
    async def page(self, service: str, title: str) -> Row:
        """Return the only page with a title, in any workspace, with its content as `text`."""
        if service == "confluence":
            rows = await self.all("confluence.search_content", query=title)
            pages = [r for r in rows if r["title"] == title]
            assert len(pages) == 1, (title, pages)
            page = await self.call_ok("confluence.fetch_content", page_id=pages[0]["content_id"])
            return page | {"text": page["body"]}
        rows = []
        for space in await self.all("notion.list_workspaces"):
            workspace = space["workspace_id"]
            rows += await self.all("notion.search_workspace", workspace_id=workspace, query=title)
        pages = [r for r in rows if r["object_type"] == "page"]
        pages = [r for r in pages if r["title"] == title]
        assert len(pages) == 1, (title, pages)
        page = await self.call_ok("notion.get_page", page_id=pages[0]["object_id"])
        return page | {"text": page["content"]}
