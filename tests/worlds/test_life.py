"""What happened in a person's life, and what is planned, is shown by every service that it touches, with the same day and figures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scenarios.worlds.build import names
from servers.kit.values import cents
from tests.worlds.walks import Row, Walk, figure

pytestmark = pytest.mark.anyio
CALENDARS = ("google_calendar", "outlook_calendar")
TYPES = {
    "standard": {"uberx", "lyft"},
    "xl": {"uberxl", "lyft_xl"},
    "shared": {"uberx", "wait_and_save"},
}
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
DAY = 86_400
CARDS = ("visa", "amex", "mastercard")


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def said(happening: Row, aspect: str) -> list[Row]:
    """Return what a happening says of an aspect, once for each service."""
    told = happening.get(aspect + "s") or listed(happening.get(aspect) or [])
    return [t | {"on": on} for t in told for on in listed(t.get("on"))]


def differing(**pairs: tuple[Any, Any]) -> list[str]:
    """Return what is not as it was told, as `name: shown, told`."""
    return [
        f"{name}: {shown!r}, told {told!r}"
        for name, (shown, told) in pairs.items()
        if shown != told
    ]


def nearest(rows: list[Row], **wanted: Any) -> tuple[Row | None, list[str]]:
    """Return the row that has all that is wanted, else what there is instead."""
    found = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    if len(found) == 1:
        return found[0], []
    return None, [f"{len(found)} of {wanted} among {[{k: r[k] for k in wanted} for r in rows][:6]}"]


# -- each aspect: what contradicts it -------------------------------------------------------------------------------


async def event(walk: Walk, happening: Row, told: Row) -> list[str]:
    calendars = listed(happening["event"]["on"])
    moved = told.get("moved_from")
    city = happening.get("city")
    if moved and told["on"] != calendars[0]:
        return []  # holds the stale copy, which is looked for below
    at = walk.at_home(happening["at"], city)
    rows: list[Row] = [
        e | {"at": walk.local(e["at"])} for e in await walk.between(told["on"], at[:10])
    ]
    found, wrong = nearest([r for r in rows if r["at"] == at], title=happening["title"])
    if found is None:  # an occurrence of a series may go by the name of its series
        series = [
            r
            for r in rows
            if r["at"] == at and set(words(happening["title"])) & set(words(r["title"]))
        ]
        if len(series) != 1:
            return wrong
        found = series[0]
    invited = {walk.person["people"][g]["email"] for g in told.get("guests", [])}
    place = walk.places.get(happening.get("place", ""), {})
    office = walk.person["work"]
    where = f"{office['name']}, {office['street']}" if found["room"] else found["where"]
    wrong = differing(
        end=(
            walk.moment(walk.local(found["end"])) - walk.moment(at),
            happening.get("hours", 1) * 3600,
        ),
        guests=(invited & found["guests"], invited),
        place=([place[k] in where for k in ("name", "street") if k in place].count(False), 0),
        note=(
            set(words(told.get("note", ""))) - set(words(f"{found['note']} {found['where']}")),
            set(),
        ),
        made=(found["made"] <= walk.person["start"], True),
    )
    if moved:
        other = next(c for c in CALENDARS if c != calendars[0])
        old = walk.at_home(moved, city)
        copies = [
            e
            for e in await walk.between(other, old[:10])
            if happening["title"] in e["title"] and walk.local(e["at"]) == old
        ]
        was = (
            walk.places[told["place_was"]]["name"] if "place_was" in told else place.get("name", "")
        )
        wrong += (
            []
            if len(copies) == 1 and was in copies[0]["where"]
            else [f"copies of {moved} in {other}: {copies}"]
        )
    return wrong


async def ride(walk: Walk, happening: Row, told: Row) -> list[str]:
    home = {"name": "", "street": walk.person["home"]["street"]}
    start, end = ({"home": home, **walk.places}[told[k]] for k in ("from", "to"))
    where = start.get("city") if told["from"] != "home" else None
    rows = [
        r
        for r in await walk.rides(told["on"], where)
        if start["street"] in r["from"] and end["street"] in r["to"]
    ]
    found, wrong = nearest(rows, at=told["at"])
    if found is None:
        return wrong
    done = walk.moment(told["at"], where) < walk.start and "cancelled" not in told
    return differing(
        fare=(cents(found["fare"]), cents(told["fare"])),
        tip=(cents(found["tip"]), cents(told["tip"]) if done else 0),
        kind=(found["kind"] in TYPES[told["type"]], True),
        cancelled=(
            found["cancelled"],
            None if "cancelled" not in told else cents(told["cancelled"]),
        ),
        names=((start["name"] in found["from"], end["name"] in found["to"]), (True, True)),
    )


async def order(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = told.get("at", happening["at"])
    try:
        found = await walk.whole(told["on"], lambda o: walk.local(o["created_at"]) == at)
    except AssertionError as missing:
        return [str(missing)[:300]]
    items = [i["name"] for i in found["items"] for _ in range(i["quantity"])]
    paid = found.get("payment") or found["payment_method"]
    return differing(
        place=(found["restaurant_name"], walk.places[told["place"]]["name"]),
        total=(cents(found["total"]), cents(told["total"])),
        tip=(cents(found["fees"]["tip"]), cents(told["tip"])),
        items=(sorted(items), sorted(told["items"])),
        refund=(
            cents((found["refund"] or {"amount": 0})["amount"]),
            cents(told.get("refunded", 0)),
        ),
        card=(paid["last4"], card(walk, happening, paid["last4"])),
    )


def card(walk: Walk, happening: Row, shown: str | None) -> str | None:
    """Return the last digits of the card that a happening was paid with, what is shown where it names none."""
    by = happening.get("paid", {}).get("by")
    return walk.person["cards"][by]["last4"] if by in walk.person["cards"] else shown


async def buy(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = str(told.get("at") or told.get("made") or happening["at"])
    wanted = told["total"]
    instacart = told["on"] == "instacart"
    made = "created_at" if instacart else "placed_at"
    try:
        found = await walk.whole(
            told["on"], lambda o: o["total"] == cents(wanted) and walk.day(o[made]) == at[:10]
        )
    except AssertionError as missing:
        return [str(missing)[:300]]
    paid = found.get("payments") or found.get("transactions") or []
    sums = found.get("pricing", found)
    wrong = differing(
        total=(sums["total"], cents(wanted)),
        refunded=(
            sums["refunded"],
            cents(wanted if "cancelled" in told else told.get("refunded", 0)),
        ),
        clock=(walk.local(found[made])[11:] if "T" in at else "", at[11:]),
        pieces=(
            len(found["items"]) if instacart else sum(i["quantity"] for i in found["items"]),
            len(told["items"]),
        ),
    )
    if "arrives" in told:
        came = found.get("delivered_at") or found.get("completed_at")
        due = (
            found.get("estimated_delivery")
            or found.get("expected_by")
            or found.get("delivery_window", {}).get("start")
        )
        wrong += differing(arrives=(walk.day(came or due), told["arrives"]))
    if "cancelled" in told:
        wrong += differing(cancelled=(walk.day(found["canceled_at"]), told["cancelled"]))
    if happening.get("paid", {}).get("by") in CARDS:
        shown = (
            found["payment"]["last_four"]
            if instacart
            else await last_four(walk, told["on"], paid[0]["payment_method_id"])
        )
        wrong += differing(card=(shown, card(walk, happening, shown)))
    return wrong


async def last_four(walk: Walk, shop: str, method: str) -> str:
    listing = {
        "amazon": "list_payment_methods",
        "walmart": "list_wallet_payments",
        "target": "get_saved_payments",
    }[shop]
    return (await walk.one(f"{shop}.{listing}", lambda m: m["payment_method_id"] == method))[
        "last_four"
    ]


async def stay(walk: Walk, happening: Row, told: Row) -> list[str]:
    place = walk.places[told.get("place") or happening["place"]]
    first = str(told.get("from") or happening["at"])[:10]
    try:
        found = await walk.whole(
            told["on"],
            lambda b: (
                place["name"] == (b.get("property_name") or b["hotel"]["hotel_name"])
                and b["check_in_date"] == first
            ),
        )
    except AssertionError as missing:
        return [str(missing)[:300]]
    booking = told["on"] == "booking"
    city = place["city"]
    nights = found["nightly_prices"] if booking else found["nightly_rates"]
    free = found["free_cancellation_until" if booking else "free_cancellation_before"]
    over = walk.moment(f"{found['check_out_date']}T12:00", city) < walk.start
    wrong = differing(
        total=(
            cents(found["total_price"] if booking else found["price"]["total"]),
            cents(told["total"]),
        ),
        nights=(len(nights), told["nights"]),
        guests=(found["num_guests"], told["guests"]),
        street=(
            place["street"] in (found["address"] if booking else found["hotel"]["address"]),
            True,
        ),
        made=(walk.day(found["booked_at" if booking else "created_at"]), str(told["made"])[:10]),
        status=(
            found["booking_status"],
            "cancelled" if "cancelled" in told else "completed" if over else "confirmed",
        ),
    )
    if "cancelled" in told:
        wrong += differing(cancelled=(walk.day(found["cancelled_at"]), told["cancelled"]))
    if "free_cancel_until" in told:
        wrong += differing(free=(walk.day(free, city) if free else None, told["free_cancel_until"]))
    paid = happening.get("paid", {})
    if paid.get("by") in CARDS and (
        cents(paid["amount"]) == cents(told["total"])
        or (happening["what"] == "trip" and "buy" not in happening)
    ):
        now = found["charged_at_booking"] if booking else found["price"]["pay_now"]
        cards = await walk.all(
            "booking.list_payment_methods" if booking else "expedia.list_saved_cards"
        )
        shown = next(
            c["last4"] for c in cards if c["payment_method_id"] == found["payment_method_id"]
        )
        wrong += differing(
            card=(shown, card(walk, happening, shown)), now=(cents(now), cents(paid["amount"]))
        )
    return wrong


async def review(walk: Walk, happening: Row, told: Row) -> list[str]:
    google = told["on"] == "google_map_review"
    place = walk.places[told.get("place") or happening["place"]]
    rows = await walk.all(
        "google_map_review.get_my_reviews" if google else "yelp.get_my_yelp_reviews"
    )
    found, wrong = nearest(rows, text=told["text"])
    if found is None:
        return wrong
    tool = "google_map_review.get_place_details" if google else "yelp.get_business"
    where = await walk.call_ok(tool, business_id=found["business_id"])
    return differing(
        rating=(found["rating"], told["rating"]),
        at=(
            walk.local(found["published_at" if google else "created_at"]),
            told.get("at", happening["at"]),
        ),
        name=(where["name"], place["name"]),
        same=(
            place["street"] in where["formatted_address" if google else "address"]
            or where["phone"] == place["phone"],
            True,
        ),
    )


async def paid(walk: Walk, happening: Row, told: Row) -> list[str]:
    at = told.get("at", happening["at"])
    amount = cents(told["amount"])
    by = told["by"]
    if by == "venmo_card":
        rows = [
            {"at": walk.local(p["at"]), "amount": cents(p["amount"]), "shop": p["merchant"]}
            for p in await walk.all("venmo.get_debit_card_transactions")
        ]
        found, wrong = nearest(rows, at=at, amount=amount)
        return (
            wrong
            if found is None
            else differing(shop=(found["shop"], walk.places[happening["place"]]["name"]))
        )
    if by in ("venmo", "zelle"):
        return await between_people(walk, happening, told, at, amount)
    if any(cents(happening.get(a, {}).get("total", 0)) == amount for a in ("order", "buy", "stay")):
        return []  # its order or booking shows it, which is looked at there
    if "stay" in happening and happening["what"] == "trip":
        return []  # the part charged at booking, which is looked at there
    if "existing" in told:
        return await shared(walk, told, at, amount)
    for account in walk.person["emails"]:
        for mail in await walk.mails(account, figure(told["amount"])):
            near = (
                0 <= (walk.moment(walk.day(mail["created_at"])) - walk.moment(at[:10])) // DAY <= 10
            )
            dated = f"{int(at[8:10])} {MONTHS[int(at[5:7]) - 1]}" in mail["body"]
            about = set(words(f"{mail['from_name']} {mail['subject']} {mail['body']}")) & topics(
                walk, happening
            )
            if figure(told["amount"]) in mail["body"] and (near or dated) and about:
                return []
    return [f"no mail of {at[:10]} tells of {figure(told['amount'])} by {by}"]


def topics(walk: Walk, happening: Row) -> set[str]:
    """Return the long words of a happening's title, place and note, and the names of who was there."""
    place = walk.places.get(happening.get("place", ""), {}).get("name", "")
    people = " ".join(walk.person["people"][p]["name"] for p in happening.get("with", []))
    return {
        w
        for w in words(f"{happening['title']} {place} {happening['paid'].get('note', '')} {people}")
        if len(w) > 3
    }


async def between_people(walk: Walk, happening: Row, told: Row, at: str, amount: int) -> list[str]:
    other, way = (told["to"], "sent") if "to" in told else (told["from"], "received")
    who = walk.person["people"][other]["name"]
    rows = [
        r
        for r in await walk.payments(told["by"])
        if r["contact"]["name"] == who and cents(r["amount"]) == amount
    ]
    if told.get("open"):
        open_requests = [
            r
            for r in rows
            if r.get("direction") == ("incoming" if way == "sent" else "outgoing")
            and r["status"] == "pending"
        ]
        return [] if len(open_requests) == 1 else [f"open requests of {who}: {rows}"]
    moved = [
        r
        for r in rows
        if "transaction_id" in r
        and r.get("type", "").endswith(way)
        and walk.local(r["created_at"]) == at
    ]
    return (
        []
        if len(moved) == 1
        else [
            f"{told['by']} {way} {who}: {[(r.get('type'), walk.local(r['created_at']), r['note']) for r in rows]}, told {at}"
        ]
    )


async def shared(walk: Walk, told: Row, at: str, amount: int) -> list[str]:
    """Look for the request by which a bill was shared, on its day or within two days."""
    asked = [
        *await walk.all("venmo.list_requests"),
        *await walk.all("zelle.list_transfer_requests"),
    ]
    groups = {r["group_payment_id"] for r in asked if r.get("group_payment_id")}
    totals = [
        (await walk.call_ok("venmo.get_group_payment", group_payment_id=g)) for g in sorted(groups)
    ]
    near = [g for g in totals if cents(g["total_amount"]) == amount]
    halves = [
        r
        for r in asked
        if r["direction"] == "outgoing"
        and 0 <= _days(walk, r["created_at"], at) <= 14
        and cents(r["amount"]) * 2 == amount
    ]
    return [] if near or halves else [f"nothing shares {amount} of {at}"]


def _days(walk: Walk, moment: str, at: str) -> int:
    return (walk.moment(walk.day(moment)) - walk.moment(at[:10])) // DAY


async def invest(walk: Walk, happening: Row, told: Row) -> list[str]:
    tool, at, amount, of = {
        ("robinhood", "buy"): ("robinhood.list_trades", "created_at", "filled_amount", None),
        ("robinhood", "sell"): ("robinhood.list_trades", "created_at", "filled_amount", None),
        ("fidelity", "buy"): ("fidelity.list_orders", "placed_at", "filled_value", None),
        ("fidelity", "sell"): ("fidelity.list_orders", "placed_at", "filled_value", None),
        ("fidelity", "contribute"): ("fidelity.list_transfers", "requested_at", "amount", None),
        ("fidelity", "dividend"): ("fidelity.list_dividends", "pay_date", "amount", None),
        ("vanguard", "contribute"): (
            "vanguard.list_contributions",
            "made_at",
            "amount",
            "contributions",
        ),
        ("vanguard", "rmd"): ("vanguard.list_withdrawals", "requested_at", "amount", None),
    }[told["on"], told["does"]]
    rows = await walk.all(tool, of)
    rows = [
        {
            "day": r[at] if at == "pay_date" else walk.day(r[at]),
            "amount": cents(r[amount]),
            "side": r.get("side"),
        }
        for r in rows
        if r[at]
    ]
    wanted = {"day": happening["at"][:10], "amount": cents(told["amount"])}
    return nearest(
        rows, **wanted, **({"side": told["does"]} if told["does"] in ("buy", "sell") else {})
    )[1]


async def music(walk: Walk, happening: Row, told: Row) -> list[str]:
    if "playlist" not in told:
        profile = await walk.call_ok("apple_music.get_user_profile")
        return differing(listens=(profile["name"], walk.person["name"]))
    spotify = told["on"] == "spotify"
    lists = await walk.all(
        "spotify.get_user_playlists" if spotify else "apple_music.get_library_playlists"
    )
    found, wrong = nearest(lists, name=told["playlist"])
    if found is None:
        return wrong
    people = {walk.person["people"][p]["name"] for p in told.get("with", [])}
    wrong = differing(
        with_=(people - {c["display_name"] for c in found.get("collaborators", [])}, set()),
        made=(walk.day(found["created_at"]) <= happening["at"][:10], True),
    )
    if walk.moment(happening["at"], happening.get("city")) + 4 * 3600 > walk.start:
        return wrong
    tool = "spotify.fetch_playlist" if spotify else "apple_music.get_playlist"
    tracks = {
        t["track_id"] for t in await walk.all(tool, "tracks", playlist_id=found["playlist_id"])
    }
    city = happening.get("city")
    heard = [
        r["track_id"]
        for r in await walk.all(f"{told['on']}.get_recently_played")
        if walk.day(r["played_at"], city) == happening["at"][:10]
    ]
    return wrong + (
        []
        if tracks & set(heard)
        else [f"nothing of {told['playlist']} was heard that day: {len(heard)}"]
    )


async def wiki(walk: Walk, happening: Row, told: Row) -> list[str]:
    try:
        page = await walk.page(told["on"], told["page"])
    except AssertionError as missing:
        return [str(missing)[:300]]
    figures = {w for w in words(told.get("note", "")) if any(c.isdigit() for c in w)}
    return differing(figures=(figures - set(words(page["text"])), set()))


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


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("aspect", ASPECTS)
async def test_what_happened_and_what_is_planned_is_shown_with_its_day_and_figures(
    aspect: str, name: str
) -> None:
    walk = Walk(name)
    wrong = {}
    told = 0
    for happening in walk.life:
        for one in said(happening, aspect):
            told += 1
            found = await ASPECTS[aspect](walk, happening, one)
            if found:
                wrong[f"{happening['key']} on {one.get('on') or one.get('by')}"] = found
    assert told and not wrong, "\n".join(f"{k}: {v}" for k, v in wrong.items())
