"""A person's world as an agent sees it: the tools of all services in one session, lists read to their last page."""

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
"""Where something is ordered or booked: the tool that lists, and the one that tells all of one."""


def figure(amount: float) -> str:
    """Return an amount as people write it: 1,288.00."""
    return f"{amount:,.2f}"


def _organizer(said: Row) -> str:
    return said["organizer"] if isinstance(said["organizer"], str) else said["organizer"]["email"]


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
    """One session over all services of a person; everything that it returns was answered by a tool."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.person = person(name)
        self.start = parse_time(self.person["start"])
        self.session = Session(tuple(services()), shared(name).share(), Control(self.start, 0))
        self.zones = {c["key"]: ZoneInfo(c["timezone"]) for c in self.person["cities"]}
        self.home = ZoneInfo(self.person["timezone"])
        self._lists: dict[str, list[Row]] = {}

    # -- what should be there -------------------------------------------------------------------------------------
    @property
    def life(self) -> list[Row]:
        """What happened and was planned, for a test that goes over all of it."""
        return Builder(self.name, self.person).life

    @property
    def places(self) -> dict[str, Row]:
        """The places of the person's cities."""
        return Builder(self.name, self.person).places

    def zone(self, city: str | None) -> ZoneInfo:
        """Return the zone of a city, of the home where none is named."""
        return self.zones.get(city or "", self.home)

    def moment(self, text: str, city: str | None = None) -> int:
        """Return the moment of a local time in epoch seconds."""
        return int(datetime.fromisoformat(text).replace(tzinfo=self.zone(city)).timestamp())

    def at_home(self, text: str, city: str | None = None) -> str:
        """Return a local time of a city as the clocks at home show it."""
        return self.local(iso(self.moment(text, city)))

    def local(self, text: str, city: str | None = None) -> str:
        """Return a moment of a reply as `2026-03-14T09:00` on the clocks of a city."""
        return datetime.fromtimestamp(parse_time(text), self.zone(city)).strftime("%Y-%m-%dT%H:%M")

    def day(self, text: str, city: str | None = None) -> str:
        """Return the local day of a moment of a reply."""
        return self.local(text, city)[:10]

    # -- tools ----------------------------------------------------------------------------------------------------
    async def call_ok(self, tool: str, **args: Any) -> Row:
        """Return what a tool answers; an error fails the test."""
        reply = await self.session.call(*tool.split("."), args)
        assert not self.session.bugs and not reply.is_error, self.session.bugs or (
            tool,
            args,
            reply.data,
        )
        return reply.data

    async def all(self, tool: str, of: str | None = None, **args: Any) -> list[Row]:
        """Return the items of a list on all of its pages, read once; `of` names it where a reply holds several."""
        key = f"{tool}{sorted(args.items())}"
        if key not in self._lists:
            service, _, name = tool.partition(".")
            takes = self.session.classes[service].tools[name].schema.get("properties", {})
            size = next((n for n in ("limit", "max_results") if n in takes), None)
            wanted = args | ({size: takes[size].get("maximum", 100)} if size else {})
            found = []
            cursor = None
            while True:
                page = await self.call_ok(tool, **wanted, **({"cursor": cursor} if cursor else {}))
                lists = [k for k, v in page.items() if isinstance(v, list)]
                assert of in lists or len(lists) == 1, (tool, lists)
                found += page[of or lists[0]]
                cursor = page.get("next_cursor")
                if cursor is None:
                    break
            self._lists[key] = found
        return list(self._lists[key])

    async def one(self, tool: str, fits: Callable[[Row], Any], **args: Any) -> Row:
        """Return the only item of a list that fits."""
        rows = await self.all(tool, **args)
        found = [r for r in rows if fits(r)]
        assert len(found) == 1, (tool, args, len(rows), found)
        return found[0]

    async def whole(self, service: str, fits: Callable[[Row], Any]) -> Row:
        """Return all that a shop or site tells of the only order or booking whose line in the list fits."""
        listing, telling = SHOPS[service]
        found = await self.one(f"{service}.{listing}", fits)
        key = next(k for k in ("order_id", "booking_id") if k in found)
        return found | await self.call_ok(f"{service}.{telling}", **{key: found[key]})

    # -- on the way -----------------------------------------------------------------------------------------------
    async def rides(self, service: str, city: str | None = None) -> list[Row]:
        """Return rides as {from, to, at, fare, tip, kind, cancelled}, times on the clocks of a city; `cancelled` is the fee or None."""
        rows = await self.all(
            {"uber": "uber.list_rides", "lyft": "lyft.list_trip_history"}[service]
        )
        return [r | {"at": self.local(r["at"], city)} for r in map(_ride, rows)]

    async def ride(self, service: str, at: str, city: str | None = None) -> Row:
        """Return the only ride asked for, or planned, at a local time."""
        found = [r for r in await self.rides(service, city) if r["at"] == at]
        assert len(found) == 1, (service, at, found)
        return found[0]

    async def skies(self, place: str, day: str) -> set[str]:
        """Return what both weather services say of a day: what it was, or what is forecast."""
        if day < self.local(iso(self.start))[:10]:
            past = [
                await self.call_ok(f"{tool}", location=place, date=day)
                for tool in ("weather_com.get_historical_weather", "yahoo_weather.get_past_weather")
            ]
            return {p["condition"] for p in past}
        days = (await self.call_ok("weather_com.get_daily_forecast", location=place, days=10))[
            "days"
        ]
        days += (await self.call_ok("yahoo_weather.get_5day_forecast", location=place))["days"]
        return {d.get("condition") or d["condition_day"] for d in days if d["date"] == day}

    # -- calendars ------------------------------------------------------------------------------------------------
    async def events(self, service: str, title: str) -> list[Row]:
        """Return events with a title as {title, at, end, where, room, note, guests, made}, a series once."""
        if service == "google_calendar":
            found = [
                e
                for e in await self.all("google_calendar.search_events", query=title)
                if e["title"] == title
            ]
            names = ("start_time", "end_time")
        else:
            found = [
                e
                for e in await self.all("outlook_calendar.find_events", query=title)
                if e["title"] == title
            ]
            names = ("start", "end")
        return [self._event(e, *names) for e in found]

    async def event(self, service: str, title: str) -> Row:
        """Return the only event of a title."""
        found = await self.events(service, title)
        assert len(found) == 1, (service, title, found)
        return found[0]

    async def between(self, service: str, day: str, city: str | None = None) -> list[Row]:
        """Return what begins at an hour of a local day in a calendar; what takes whole days is left out."""
        first = date.fromisoformat(day)
        span = [iso(self.moment(f"{d}T00:00", city)) for d in (first, first + timedelta(days=1))]
        if service == "google_calendar":
            found = await self.all(
                "google_calendar.list_events", time_min=span[0], time_max=span[1]
            )
            names = ("start_time", "end_time")
        else:
            found = await self.all(
                "outlook_calendar.get_events", start_date=span[0], end_date=span[1]
            )
            names = ("start", "end")
        return [self._event(e, *names) for e in found if "T" in e[names[0]]]

    @staticmethod
    def _event(said: Row, start: str, end: str) -> Row:
        return {
            "title": said["title"],
            "at": said[start],
            "end": said[end],
            "where": said["location"],
            "room": said.get("room"),
            "note": said["description"],
            "guests": {a["email"] for a in said["attendees"]} | {_organizer(said)},
            "made": said["created_at"],
        }

    # -- money ----------------------------------------------------------------------------------------------------
    async def payments(self, service: str) -> list[Row]:
        """Return what was sent, received or asked through Venmo or Zelle."""
        asked = "venmo.list_requests" if service == "venmo" else "zelle.list_transfer_requests"
        moved = "venmo.list_transactions" if service == "venmo" else "zelle.list_transfers"
        return [r for r in [*await self.all(moved), *await self.all(asked)] if r["contact"]]

    async def shares(self, total: int, note: str) -> list[Row]:
        """Return the requests by which a bill of so many cents was shared on Venmo."""
        asked = [
            r
            for r in await self.all("venmo.list_requests")
            if r["note"] == note and r["group_payment_id"]
        ]
        (group,) = {r["group_payment_id"] for r in asked}
        said = await self.call_ok("venmo.get_group_payment", group_payment_id=group)
        assert cents(said["total_amount"]) == total, said
        return asked

    # -- mail -----------------------------------------------------------------------------------------------------
    async def mailbox(self, email: str) -> str:
        """Sign in to one of the person's mailboxes and return its service."""
        for service, listing, switch in (
            ("gmail", "gmail.list_accounts", "gmail.switch_user"),
            ("outlook", "outlook.list_profiles", "outlook.set_active_user"),
        ):
            if any(a["email_address"] == email for a in (await self.call_ok(listing))["accounts"]):
                await self.call_ok(switch, username=email)
                return service
        raise AssertionError(f"no mailbox {email}")

    async def mails(self, account: str, words: str) -> list[Row]:
        """Return mails that hold all words, whole; `account` is a key of the person's addresses."""
        service = await self.mailbox(self.person["emails"][account])
        searching, telling = {
            "gmail": ("gmail.search_emails", "gmail.get_email"),
            "outlook": ("outlook.query_mail_items", "outlook.get_mail_item"),
        }[service]
        self._lists = {k: v for k, v in self._lists.items() if not k.startswith(service)}
        found = await self.all(searching, query=words)
        return [await self.call_ok(telling, email_id=m["email_id"]) for m in found]

    async def letters(self, account: str, words: str, sender: str) -> list[Row]:
        """Return what a person (by key) or an address wrote with all these words, oldest first; there is at least one."""
        address = (
            self.person["people"][sender]["email"] if sender in self.person["people"] else sender
        )
        found = [m for m in await self.mails(account, words) if m["from"] == address]
        assert found, (account, words, sender)
        return sorted(found, key=lambda m: m["created_at"])

    async def mail(self, account: str, words: str, subject: str) -> Row:
        """Return the only mail of a subject among those that hold all words."""
        found = [m for m in await self.mails(account, words) if m["subject"] == subject]
        assert len(found) == 1, (
            account,
            words,
            [m["subject"] for m in await self.mails(account, words)],
        )
        return found[0]

    # -- reviews --------------------------------------------------------------------------------------------------
    async def my_review(self, service: str, name: str) -> Row:
        """Return the only review that the person wrote of a place, with what the site tells of the place, as {rating, text, day, place}."""
        google = service == "google_map_review"
        tool, key = (
            ("get_my_reviews", "place_name") if google else ("get_my_yelp_reviews", "business_name")
        )
        said = await self.one(f"{service}.{tool}", lambda r: r[key] == name)
        place = await self.call_ok(
            f"{service}.{'get_place_details' if google else 'get_business'}",
            business_id=said["business_id"],
        )
        return {
            "rating": said["rating"],
            "text": said["text"],
            "day": self.day(said["published_at" if google else "created_at"]),
            "place": place,
        }

    # -- texts ----------------------------------------------------------------------------------------------------
    async def page(self, service: str, title: str) -> Row:
        """Return the only page of a title as {text, at}, wherever it is kept."""
        if service == "confluence":
            found = [
                p
                for p in await self.all("confluence.search_content", query=title)
                if p["title"] == title
            ]
            assert len(found) == 1, (title, found)
            page = await self.call_ok("confluence.fetch_content", page_id=found[0]["content_id"])
            return page | {"text": page["body"]}
        spaces = await self.all("notion.list_workspaces")
        hits = [
            p
            for s in spaces
            for p in await self.all(
                "notion.search_workspace", workspace_id=s["workspace_id"], query=title
            )
        ]
        found = [p for p in hits if p["title"] == title and p["object_type"] == "page"]
        assert len(found) == 1, (title, found)
        page = await self.call_ok("notion.get_page", page_id=found[0]["object_id"])
        return page | {"text": page["content"]}
