"""Every service shows what happened in a person's life, and what is planned.

All that it touches agree on its date and figures.
"""

from __future__ import annotations

import calendar
import itertools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from scenarios.worlds.build import names
from servers.kit.values import cents
from tests.support import sampled
from tests.worlds.walks import Row, Walk, figure

pytestmark = pytest.mark.anyio
CALENDARS = ("google_calendar", "outlook_calendar")
TYPES = {
    "standard": {"uberx", "lyft"},
    "xl": {"uberxl", "lyft_xl"},
    "shared": {"uberx", "wait_and_save"},
}
DAY = 86_400
CARDS = ("visa", "amex", "mastercard")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def tellings(happening: Row, aspect: str) -> list[Row]:
    """Return what a happening says about an aspect, once for each service."""
    seeds = happening.get(aspect + "s") or listed(happening.get(aspect) or [])
    rows = []
    for seed in seeds:
        rows += [seed | {"on": service} for service in listed(seed.get("on"))]
    return rows


def differing(**pairs: tuple[Any, Any]) -> list[str]:
    """Return the values that differ from what life tells, as `name: shown, told`."""
    return [
        f"{name}: {shown!r}, told {told!r}"
        for name, (shown, told) in pairs.items()
        if shown != told
    ]


def nearest(rows: list[Row], **wanted: Any) -> tuple[Row | None, list[str]]:
    """Return the only row with all wanted values, or a description of what there is instead."""
    same = [_part(row, wanted) for row in rows]
    fitting = [row for row, values in zip(rows, same, strict=True) if values == wanted]
    if len(fitting) == 1:
        return fitting[0], []
    return None, [f"{len(fitting)} of {wanted} among {same[:6]}"]


def _part(row: Row, keys: Iterable[str]) -> Row:
    return {key: row[key] for key in keys}


# -- one function per aspect, which returns what contradicts it -----------------------------------


async def event(walk: Walk, happening: Row, told: Row) -> list[str]:
    calendars = listed(happening["event"]["on"])
    moved = told.get("moved_from")
    city = happening.get("city")
    if moved and told["on"] != calendars[0]:
        return []  # this calendar holds the stale copy, which is checked below
    at = walk.at_home(happening["at"], city)
    day: list[Row] = [
        e | {"at": walk.local(e["at"])} for e in await walk.between(told["on"], at[:10])
    ]
    rows = [r for r in day if r["at"] == at]
    row, wrong = nearest(rows, title=happening["title"])
    if row is None:  # an occurrence may have the title of its series
        named = set(words(happening["title"]))
        series = [r for r in rows if named & set(words(r["title"]))]
        if len(series) != 1:
            return wrong
        row = series[0]
    invited = {walk.person["people"][g]["email"] for g in told.get("guests", [])}
    came = {walk.person["people"][w]["email"] for w in happening.get("with", [])}
    place = walk.places.get(happening.get("place", ""), {})
    office = walk.person["work"]
    where = f"{office['name']}, {office['street']}" if row["room"] else row["where"]
    told_place = [place[k] for k in ("name", "street") if k in place]
    missing = [text for text in told_place if text not in where]
    noted = set(words(f"{row['note']} {row['where']}"))
    length = walk.moment(walk.local(row["end"])) - walk.moment(at)
    wrong = differing(
        end=(length, happening.get("hours", 1) * 3600),
        guests=(invited & row["guests"], invited),
        declined=(came & row["declined"], set()),
        place=(missing, []),
        note=(set(words(told.get("note", ""))) - noted, set()),
        made=(row["made"] <= walk.person["start"], True),
    )
    if moved:
        other = next(c for c in CALENDARS if c != calendars[0])
        wrong += await stale_copy(walk, happening, told, other)
    return wrong


async def stale_copy(walk: Walk, happening: Row, told: Row, calendar: str) -> list[str]:
    """Look for the copy of an event that still has its time and place from before it was moved."""
    at = walk.at_home(told["moved_from"], happening.get("city"))
    titled = [e for e in await walk.between(calendar, at[:10]) if happening["title"] in e["title"]]
    copies = [e for e in titled if walk.local(e["at"]) == at]
    place = walk.places.get(told.get("place_was") or happening.get("place", ""), {})
    if len(copies) == 1 and place.get("name", "") in copies[0]["where"]:
        return []
    return [f"copies of {told['moved_from']} in {calendar}: {copies}"]


async def ride(walk: Walk, happening: Row, told: Row) -> list[str]:
    home = {"name": "", "street": walk.person["home"]["street"]}
    places = {"home": home, **walk.places}
    start = places[told["from"]]
    end = places[told["to"]]
    city = start.get("city") if told["from"] != "home" else None
    rides = [r for r in await walk.rides(told["on"], city) if start["street"] in r["from"]]
    rides = [r for r in rides if end["street"] in r["to"]]
    row, wrong = nearest(rides, at=told["at"])
    if row is None:
        return wrong
    done = walk.moment(told["at"], city) < walk.start and "cancelled" not in told
    fee = cents(told["cancelled"]) if "cancelled" in told else None
    return differing(
        fare=(cents(row["fare"]), cents(told["fare"])),
        tip=(cents(row["tip"]), cents(told["tip"]) if done else 0),
        kind=(row["kind"] in TYPES[told["type"]], True),
        cancelled=(row["cancelled"], fee),
        names=((start["name"] in row["from"], end["name"] in row["to"]), (True, True)),
    )


async def order(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = told.get("at", happening["at"])
    try:
        row = await walk.whole(told["on"], lambda o: walk.local(o["created_at"]) == at)
    except AssertionError as missing:
        return [str(missing)[:300]]
    items: list[str] = []
    for item in row["items"]:
        items += [item["name"]] * item["quantity"]
    payment = row.get("payment") or row["payment_method"]
    refunded = cents(row["refund"]["amount"]) if row["refund"] else 0
    return differing(
        place=(row["restaurant_name"], walk.places[told["place"]]["name"]),
        total=(cents(row["total"]), cents(told["total"])),
        tip=(cents(row["fees"]["tip"]), cents(told["tip"])),
        items=(sorted(items), sorted(told["items"])),
        refund=(refunded, cents(told.get("refunded", 0))),
        card=(payment["last4"], card(walk, happening, payment["last4"])),
    )


def card(walk: Walk, happening: Row, shown: str | None) -> str | None:
    """Return the last digits of the card that a happening was paid with.

    If it names no card, whatever is shown is right.
    """
    by = happening.get("paid", {}).get("by")
    return walk.person["cards"][by]["last4"] if by in walk.person["cards"] else shown


async def buy(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = str(told.get("at") or told.get("made") or happening["at"])
    total = cents(told["total"])
    instacart = told["on"] == "instacart"
    made = "created_at" if instacart else "placed_at"
    try:
        row = await walk.whole(
            told["on"], lambda o: o["total"] == total and walk.day(o[made]) == at[:10]
        )
    except AssertionError as missing:
        return [str(missing)[:300]]
    sums = row.get("pricing", row)
    refunded = told["total"] if "cancelled" in told else told.get("refunded", 0)
    pieces = sum(item["quantity"] for item in row["items"])
    wrong = differing(
        total=(sums["total"], total),
        refunded=(sums["refunded"], cents(refunded)),
        clock=(walk.local(row[made])[11:] if "T" in at else "", at[11:]),
        pieces=(len(row["items"]) if instacart else pieces, len(told["items"])),
    )
    if "arrives" in told:
        came = row.get("delivered_at") or row.get("completed_at")
        due = row.get("estimated_delivery") or row.get("expected_by")
        window = row.get("delivery_window", {}).get("start")
        wrong += differing(arrives=(walk.day(came or due or window), told["arrives"]))
    if "cancelled" in told:
        wrong += differing(cancelled=(walk.day(row["canceled_at"]), told["cancelled"]))
    if happening.get("paid", {}).get("by") in CARDS:
        if instacart:
            shown = row["payment"]["last_four"]
        else:
            payments = row.get("payments") or row["transactions"]
            shown = await last_four(walk, told["on"], payments[0]["payment_method_id"])
        wrong += differing(card=(shown, card(walk, happening, shown)))
    return wrong


async def last_four(walk: Walk, shop: str, method: str) -> str:
    listing = {
        "amazon": "list_payment_methods",
        "walmart": "list_wallet_payments",
        "target": "get_saved_payments",
    }[shop]
    row = await walk.one(f"{shop}.{listing}", lambda m: m["payment_method_id"] == method)
    return row["last_four"]


async def stay(walk: Walk, happening: Row, told: Row) -> list[str]:
    place = walk.places[told.get("place") or happening["place"]]
    first = str(told.get("from") or happening["at"])[:10]

    def fits(line: Row) -> bool:
        hotel = line.get("property_name") or line["hotel"]["hotel_name"]
        return place["name"] == hotel and line["check_in_date"] == first

    try:
        row = await walk.whole(told["on"], fits)
    except AssertionError as missing:
        return [str(missing)[:300]]
    if told["on"] == "booking":
        total = row["total_price"]
        address = row["address"]
        nights = row["nightly_prices"]
        made = row["booked_at"]
        free = row["free_cancellation_until"]
    else:
        total = row["price"]["total"]
        address = row["hotel"]["address"]
        nights = row["nightly_rates"]
        made = row["created_at"]
        free = row["free_cancellation_before"]
    city = place["city"]
    over = walk.moment(f"{row['check_out_date']}T12:00", city) < walk.start
    status = "completed" if over else "confirmed"
    if "cancelled" in told:
        status = "cancelled"
    wrong = differing(
        total=(cents(total), cents(told["total"])),
        nights=(len(nights), told["nights"]),
        guests=(row["num_guests"], told["guests"]),
        street=(place["street"] in address, True),
        made=(walk.day(made), str(told["made"])[:10]),
        status=(row["booking_status"], status),
    )
    if "cancelled" in told:
        wrong += differing(cancelled=(walk.day(row["cancelled_at"]), told["cancelled"]))
    if "free_cancel_until" in told:
        wrong += differing(free=(walk.day(free, city) if free else None, told["free_cancel_until"]))
    payment = happening.get("paid", {})
    if payment.get("by") not in CARDS:
        return wrong
    whole = cents(payment["amount"]) == cents(told["total"])
    if whole or (happening["what"] == "trip" and "buy" not in happening):
        wrong += await paid_at_booking(walk, happening, told, row)
    return wrong


async def paid_at_booking(walk: Walk, happening: Row, told: Row, row: Row) -> list[str]:
    if told["on"] == "booking":
        charged = row["charged_at_booking"]
        cards = await walk.all("booking.list_payment_methods")
    else:
        charged = row["price"]["pay_now"]
        cards = await walk.all("expedia.list_saved_cards")
    method = row["payment_method_id"]
    shown = next(c["last4"] for c in cards if c["payment_method_id"] == method)
    return differing(
        card=(shown, card(walk, happening, shown)),
        now=(cents(charged), cents(happening["paid"]["amount"])),
    )


async def review(walk: Walk, happening: Row, told: Row) -> list[str]:
    place = walk.places[told.get("place") or happening["place"]]
    if told["on"] == "google_map_review":
        listing = "google_map_review.get_my_reviews"
        telling = "google_map_review.get_place_details"
        made = "published_at"
        address = "formatted_address"
    else:
        listing = "yelp.get_my_yelp_reviews"
        telling = "yelp.get_business"
        made = "created_at"
        address = "address"
    row, wrong = nearest(await walk.all(listing), text=told["text"])
    if row is None:
        return wrong
    where = await walk.call_ok(telling, business_id=row["business_id"])
    same = place["street"] in where[address] or where["phone"] == place["phone"]
    return differing(
        rating=(row["rating"], told["rating"]),
        at=(walk.local(row[made]), told.get("at", happening["at"])),
        name=(where["name"], place["name"]),
        same=(same, True),
    )


async def paid(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = told.get("at", happening["at"])
    amount = cents(told["amount"])
    by = told["by"]
    if by == "venmo_card":
        return await by_venmo_card(walk, happening, at, amount)
    if by in ("venmo", "zelle"):
        return await between_people(walk, happening, told, at, amount)
    totals = [happening.get(aspect, {}).get("total", 0) for aspect in ("order", "buy", "stay")]
    if amount in map(cents, totals):
        return []  # shown by its order or booking, and checked there
    if "stay" in happening and happening["what"] == "trip":
        return []  # the part charged at booking is checked there
    if "existing" in told:
        return await shared(walk, told, at, amount)
    sum_ = figure(told["amount"])
    date = f"{int(at[8:10])} {calendar.month_name[int(at[5:7])]}"
    for account in walk.person["emails"]:
        for mail in await walk.mails(account, sum_):
            soon = 0 <= _days(walk, mail["created_at"], at) <= 10
            text = set(words(f"{mail['from_name']} {mail['subject']} {mail['body']}"))
            about = text & topics(walk, happening)
            if sum_ in mail["body"] and (soon or date in mail["body"]) and about:
                return []
    return [f"no mail of {at[:10]} tells of {sum_} by {by}"]


async def by_venmo_card(walk: Walk, happening: Row, at: str, amount: int) -> list[str]:
    rows = [
        {"at": walk.local(p["at"]), "amount": cents(p["amount"]), "shop": p["merchant"]}
        for p in await walk.all("venmo.get_debit_card_transactions")
    ]
    row, wrong = nearest(rows, at=at, amount=amount)
    if row is None:
        return wrong
    return differing(shop=(row["shop"], walk.places[happening["place"]]["name"]))


def topics(walk: Walk, happening: Row) -> set[str]:
    """Return the long words from a happening's title, place, note and people."""
    place = walk.places.get(happening.get("place", ""), {}).get("name", "")
    people = " ".join(walk.person["people"][p]["name"] for p in happening.get("with", []))
    text = f"{happening['title']} {place} {happening['paid'].get('note', '')} {people}"
    return {word for word in words(text) if len(word) > 3}


async def between_people(walk: Walk, happening: Row, told: Row, at: str, amount: int) -> list[str]:
    sends = "to" in told
    name = walk.person["people"][told["to"] if sends else told["from"]]["name"]
    payments = await walk.payments_with(told["by"], name)
    rows = [r for r in payments if cents(r["amount"]) == amount]
    if told.get("open"):
        direction = "incoming" if sends else "outgoing"
        requests = [r for r in rows if r.get("direction") == direction]
        pending = [r for r in requests if r["status"] == "pending"]
        return [] if len(pending) == 1 else [f"open requests of {name}: {rows}"]
    way = "sent" if sends else "received"
    moved = [r for r in rows if "transaction_id" in r]
    moved = [r for r in moved if r.get("type", "").endswith(way)]
    if [walk.local(r["created_at"]) for r in moved].count(at) == 1:
        return []
    shown = [(r.get("type"), walk.local(r["created_at"]), r["note"]) for r in rows]
    return [f"{told['by']} {way} {name}: {shown}, told {at}"]


async def shared(walk: Walk, told: Row, at: str, amount: int) -> list[str]:
    """Look for the requests by which a bill was split, within two weeks."""
    asked = [
        *await walk.all("venmo.list_requests"),
        *await walk.all("zelle.list_transfer_requests"),
    ]
    for group in sorted({r["group_payment_id"] for r in asked if r.get("group_payment_id")}):
        payment = await walk.call_ok("venmo.get_group_payment", group_payment_id=group)
        if cents(payment["total_amount"]) == amount:
            return []
    halves = [r for r in asked if cents(r["amount"]) * 2 == amount]
    halves = [r for r in halves if r["direction"] == "outgoing"]
    if any(0 <= _days(walk, r["created_at"], at) <= 14 for r in halves):
        return []
    return [f"nothing shares {amount} of {at}"]


def _days(walk: Walk, moment: str, at: str) -> int:
    """Return how many days after a local time a moment is."""
    return (walk.moment(walk.day(moment)) - walk.moment(at[:10])) // DAY


class Listing(NamedTuple):
    """Where a provider lists a kind of investment: the tool, and fields of its items."""

    tool: str
    at: str
    amount: str
    items: str | None = None


LISTINGS = {
    ("robinhood", "buy"): Listing("robinhood.list_trades", "created_at", "filled_amount"),
    ("robinhood", "sell"): Listing("robinhood.list_trades", "created_at", "filled_amount"),
    ("fidelity", "buy"): Listing("fidelity.list_orders", "placed_at", "filled_value"),
    ("fidelity", "sell"): Listing("fidelity.list_orders", "placed_at", "filled_value"),
    ("fidelity", "contribute"): Listing("fidelity.list_transfers", "requested_at", "amount"),
    ("fidelity", "dividend"): Listing("fidelity.list_dividends", "pay_date", "amount"),
    ("vanguard", "contribute"): Listing(
        "vanguard.list_contributions", "made_at", "amount", "contributions"
    ),
    ("vanguard", "rmd"): Listing("vanguard.list_withdrawals", "requested_at", "amount"),
}


async def invest(walk: Walk, happening: Row, told: Row) -> list[str]:
    listing = LISTINGS[told["on"], told["does"]]
    rows = []
    for row in await walk.all(listing.tool, listing.items):
        at = row[listing.at]
        if at:
            day = at if listing.at == "pay_date" else walk.day(at)
            rows.append({"day": day, "amount": cents(row[listing.amount]), "side": row.get("side")})
    wanted = {"day": happening["at"][:10], "amount": cents(told["amount"])}
    if told["does"] in ("buy", "sell"):
        wanted["side"] = told["does"]
    return nearest(rows, **wanted)[1]


async def music(walk: Walk, happening: Row, told: Row) -> list[str]:
    if "playlist" not in told:
        profile = await walk.call_ok("apple_music.get_user_profile")
        return differing(listens=(profile["name"], walk.person["name"]))
    if told["on"] == "spotify":
        listing = "spotify.get_user_playlists"
        telling = "spotify.fetch_playlist"
    else:
        listing = "apple_music.get_library_playlists"
        telling = "apple_music.get_playlist"
    row, wrong = nearest(await walk.all(listing), name=told["playlist"])
    if row is None:
        return wrong
    people = {walk.person["people"][p]["name"] for p in told.get("with", [])}
    shown = {c["display_name"] for c in row.get("collaborators", [])}
    day = happening["at"][:10]
    wrong = differing(
        with_=(people - shown, set()),
        made=(walk.day(row["created_at"]) <= day, True),
    )
    city = happening.get("city")
    if walk.moment(happening["at"], city) + 4 * 3600 > walk.start:
        return wrong
    songs = await walk.all(telling, "tracks", playlist_id=row["playlist_id"])
    plays = await walk.all(f"{told['on']}.get_recently_played")
    heard = [p["track_id"] for p in plays if walk.day(p["played_at"], city) == day]
    if not {song["track_id"] for song in songs} & set(heard):
        wrong.append(f"nothing of {told['playlist']} was heard that day: {len(heard)}")
    return wrong


async def wiki(walk: Walk, happening: Row, told: Row) -> list[str]:
    try:
        page = await walk.page(told["on"], told["page"])
    except AssertionError as missing:
        return [str(missing)[:300]]
    figures = set(filter(has_digit, words(told.get("note", ""))))
    return differing(figures=(figures - set(words(page["text"])), set()))


def has_digit(word: str) -> bool:
    return any(c.isdigit() for c in word)


def words(text: str) -> list[str]:
    return re.findall(r"[\w'&:.,-]*\w", text.lower())


ASPECTS = {
    "event": event,
    "ride": ride,
    "order": order,
    "stay": stay,
    "review": review,
    "buy": buy,
    "paid": paid,
    "invest": invest,
    "music": music,
    "wiki": wiki,
}
PAIRS = itertools.product(names(), ASPECTS)
SHOWN = {f"{aspect}-{name}": (name, aspect) for name, aspect in PAIRS}


@pytest.mark.parametrize(("name", "aspect"), sampled(4, SHOWN))
async def test_what_happened_and_what_is_planned_is_shown_with_its_day_and_figures(
    aspect: str, name: str
) -> None:
    walk = Walk(name)
    wrong = []
    count = 0
    for happening in walk.life:
        for told in tellings(happening, aspect):
            count += 1
            differences = await ASPECTS[aspect](walk, happening, told)
            if differences:
                service = told.get("on") or told.get("by")
                wrong.append(f"{happening['key']} on {service}: {differences}")
    assert count
    assert not wrong, "\n".join(wrong)
