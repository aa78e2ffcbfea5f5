"""Ten questions that Maya might ask, each answered by services that have to agree."""

from __future__ import annotations

import pytest

from servers.kit.values import cents
from tests.worlds.walks import Walk

pytestmark = pytest.mark.anyio


@pytest.fixture
def maya() -> Walk:
    return Walk("maya")


async def test_what_the_dinner_at_rosas_cost_who_came_how_we_got_there_and_what_i_wrote_of_it(
    maya: Walk,
) -> None:
    event = await maya.event("google_calendar", "Dinner at Rosa's")
    day = maya.day(event["at"])
    assert maya.local(event["at"]) == "2026-02-15T18:30"
    assert "jordan.park@gmail.com" in event["guests"]

    card = await maya.one(
        "venmo.get_debit_card_transactions", lambda p: p["merchant"] == "Rosa's Kitchen"
    )
    assert cents(card["amount"]) == 5420 and maya.day(card["at"]) == day
    assert event["at"] < card["at"] <= event["end"]
    ride = await maya.ride("lyft", f"{day}T18:10")
    assert ride["to"].startswith("Rosa's Kitchen, 3729 SE Division Street")
    assert "2318 SE Alder Street" in ride["from"]
    assert (cents(ride["fare"]), cents(ride["tip"])) == (890, 150)

    reviews = [
        await maya.my_review(site, "Rosa's Kitchen") for site in ("yelp", "google_map_review")
    ]
    assert {(r["rating"], r["text"], r["day"]) for r in reviews} == {
        (5, reviews[0]["text"], "2026-02-16")
    }
    assert "Order the mole" in reviews[0]["text"] and "3729 SE Division Street" in event["where"]
    assert {r["place"]["phone"] for r in reviews} == {"+1-503-555-0113"}

    # the table on the 14th was at the other Rosa's, which closed; a stale copy of it remains
    copy = await maya.event("outlook_calendar", "Dinner at Rosa's (copied)")
    booked = await maya.mail("personal", "Rosas Cantina", "Your table on 14 February")
    assert maya.local(copy["at"]) == "2026-02-14T19:00" and "14 February at 19:00" in booked["body"]
    assert "1730 E Burnside Street" in copy["where"] and "1730 E Burnside Street" in booked["body"]
    cantina = await maya.one(
        "yelp.search_businesses",
        lambda b: b["name"] == "Rosas Cantina",
        query="Rosas Cantina",
        include_closed=True,
    )
    gone = await maya.mail("personal", "Rosas Cantina", "We are closing")
    assert cantina["is_closed"] and maya.day(gone["created_at"]) == "2026-01-31"
    held = await maya.mail("personal", "Rosa's Kitchen", "Table for two")
    assert "Sunday 15 February at 18:30" in held["body"]


async def test_where_i_sleep_and_work_in_chicago_what_it_costs_how_i_travel_and_whether_it_snows(
    maya: Walk,
) -> None:
    stay = await maya.whole("expedia", lambda t: t["check_in_date"] == "2026-03-18")
    assert stay["hotel"]["hotel_name"] == "The Wabash House"
    assert stay["booking_status"] == "confirmed"
    flights = await maya.mail_from(
        "work", "booked arriving Chicago hotel", "people@fernhill.design"
    )
    assert "18 March at 6:05" in flights["body"] and "The limit per night is 210" in flights["body"]
    nights = len(stay["nightly_rates"])
    assert nights == 2 and cents(stay["price"]["total"]) == 39800 <= nights * 21000
    saved = await maya.one("google_map_review.list_saved_places", lambda p: "Wabash" in p["name"])
    assert saved["name"] == stay["hotel"]["hotel_name"]
    assert stay["hotel"]["address"] in saved["formatted_address"]

    # the booking with the same name was cancelled free of charge, as the mail says
    other = await maya.whole(
        "booking",
        lambda b: b["property_name"] == "Wabash Hotel" and b["check_in_date"] == "2026-03-18",
    )
    mail = await maya.mail("work", "Wabash Hotel", "Cancelled: Wabash Hotel")
    assert other["booking_status"] == "cancelled"
    assert cents(other["refund_amount"]) == cents(other["total_price"]) == 28700
    assert "287.00" in mail["body"] and other["address"].split(",")[0] in mail["body"]
    assert (
        maya.day(mail["created_at"])
        == maya.day(other["cancelled_at"])
        == maya.day(stay["created_at"])
    )

    trip = {
        c: await maya.event(c, "Acme workshop in Chicago")
        for c in ("google_calendar", "outlook_calendar")
    }
    assert {maya.local(e["at"]) for e in trip.values()} == {"2026-03-18T06:05"}
    assert {maya.local(e["end"]) for e in trip.values()} == {"2026-03-20T17:35"}
    out = await maya.ride("lyft", "2026-03-18T04:15")
    home = await maya.ride("uber", "2026-03-20T17:55")
    assert "Portland International Airport" in out["to"]
    assert "Portland International Airport" in home["from"]
    assert (cents(out["fare"]), cents(home["fare"])) == (2860, 3140)
    assert maya.local(trip["google_calendar"]["end"]) < home["at"]
    alert = (await maya.all("weather_com.get_alerts", location="Chicago"))[0]
    assert alert["event"] == "Winter Storm Watch"
    assert alert["start_time"] <= "2026-03-18T12:00" <= alert["end_time"]
    assert all("Snow" in sky for sky in await maya.skies("Chicago", "2026-03-18"))


async def test_when_and_in_which_room_the_workshop_begins_and_who_is_wrong_about_it(
    maya: Walk,
) -> None:
    work = await maya.event("outlook_calendar", "Acme workshop, Lakeview room")
    assert maya.local(work["at"], "chicago") == "2026-03-18T13:30"
    assert "Agenda v3: 12th floor, Lakeview room" in work["note"]
    agenda = await maya.letters("work", "agenda room Wednesday", "olivia.grant@acmeretail.com")
    latest = max(agenda, key=lambda m: m["created_at"])
    assert "Wednesday starts at 13:30" in latest["body"]
    assert "Lakeview room on the 12th floor" in latest["body"]
    assert latest["attachments"][0] == "workshop-agenda-v3.pdf"
    forwarded = await maya.letters("work", "room 4B 13:00", "lucas.weber@fernhill.design")
    assert forwarded[0]["created_at"] > latest["created_at"]
    assert forwarded[0]["attachments"][0] == "workshop-agenda-v2.pdf"
    page = await maya.page("confluence", "Acme workshop, March")
    assert "room 4B" in page["text"]
    assert "13:00" in page["text"]
    assert page["updated_at"] < latest["created_at"]
    copy = await maya.event("google_calendar", "Acme workshop, Lakeview room (copied)")
    assert maya.local(copy["at"], "chicago") == "2026-03-18T14:00"
    first = next(m for m in agenda if "14:00 in room 4B" in m["body"])
    assert first["created_at"] < page["created_at"]
    assert "233 Wells Street" in work["where"]
    assert "233 Wells Street" in page["text"]
    dinner = await maya.event("outlook_calendar", "Dinner with Acme")
    ride = await maya.ride("lyft", "2026-03-19T18:05", "chicago")
    assert maya.local(dinner["at"], "chicago") == "2026-03-19T18:30"
    assert ride["from"].startswith("The Wabash House")
    assert dinner["where"].split(",")[0] == ride["to"].split(",")[0] == "Prairie Table"


async def test_when_toms_birthday_dinner_is_where_i_sleep_how_i_get_there_and_what_his_present_cost(
    maya: Walk,
) -> None:
    dinner = await maya.event("google_calendar", "Tom's birthday dinner")
    copy = await maya.event("outlook_calendar", "Tom's birthday dinner (copied)")
    assert maya.local(dinner["at"]) == "2026-04-11T18:30"
    assert maya.local(copy["at"]) == "2026-04-11T19:00"
    table = await maya.letters("personal", "Addis Hearth table", "table@addishearth.com")
    told = {m["subject"]: m["body"] for m in table}
    assert "at 19:00" in told["Your table on 11 April"]
    assert "2805 E Cherry Street" in told["Your table on 11 April"]
    assert "to 18:30" in told["Your table on 11 April, changed"]
    assert "2805 E Cherry Street" in dinner["where"]
    page = await maya.page("notion", "Seattle for Tom")
    assert "19:00" in page["text"] and page["updated_at"] < max(m["created_at"] for m in table)
    assert "Addis Hearth" in page["text"]
    heart = await maya.one(
        "google_map_review.search_places", lambda p: p["name"] == "Addis Heart Cafe", query="Addis"
    )
    assert "2805 E Cherry Street" not in heart["formatted_address"]

    given_up = await maya.whole(
        "expedia", lambda t: t["hotel"]["hotel_name"] == "Pike Terrace Hotel"
    )
    refund = await maya.mail(
        "personal", "Pike Terrace Hotel", "Cancelled: Pike Terrace Hotel, 11 April"
    )
    assert f"{given_up['refund_amount']:.2f} goes back to Amex ending in 1009" in refund["body"]
    assert maya.day(given_up["cancelled_at"]) == maya.day(refund["created_at"])
    room = await maya.whole("booking", lambda b: b["property_name"] == "Phinney Garden Inn")
    sofa = await maya.mail("personal", "sofa bed mum guest room", "April")
    assert room["booking_status"] == "confirmed"
    assert maya.day(room["free_cancellation_until"]) == "2026-04-09"
    assert cents(room["total_price"]) == 11800 < cents(given_up["price"]["total"])
    assert "sofa bed is yours" in sofa["body"]
    ride = await maya.ride("lyft", "2026-04-11T12:45", "seattle")
    assert "King Street" in ride["from"] and cents(ride["fare"]) == 1970

    voucher = await maya.mail("personal", "Salt Crumb voucher", "Your voucher for two Saturdays")
    half = (await maya.mails("personal", "Bread perfect Mamma 75"))[0]
    assert "150.00, paid by Amex ending in 1009" in voucher["body"]
    assert "I give 75 and you give 75" in half["body"]
    assert "bread course, 150" in page["text"]
    playlist = await maya.playlist("Tom thirty-eight")
    assert playlist["track_count"] > 0


async def test_what_jordans_party_cost_what_was_missing_and_how_much_came_back(maya: Walk) -> None:
    party = await maya.event("google_calendar", "Jordan is 35")
    copy = await maya.event("outlook_calendar", "Jordan is 35 (copied)")
    assert maya.local(party["at"]) == "2025-10-25T19:00"
    assert maya.local(copy["at"]) == "2025-10-24T19:00"
    pizza = await maya.whole(
        "doordash",
        lambda o: (
            o["restaurant_name"] == "Dough & Ember" and maya.day(o["created_at"]) == "2025-10-25"
        ),
    )
    assert cents(pizza["total"]) == 9120
    assert cents(pizza["refund"]["amount"]) == 1700
    assert "pepperoni" in pizza["refund"]["reason"]
    assert pizza["payment"]["last4"] == "7754"
    assert party["at"] < pizza["created_at"] < pizza["arrived_at"] < party["end"]
    food = await maya.whole("instacart", lambda o: maya.day(o["created_at"]) == "2025-10-23")
    issue = next(i for i in food["issues"] if i["status"] == "refunded")
    assert food["pricing"]["total"] == 7418
    assert food["pricing"]["refunded"] == 649
    assert issue["refund"] == 649
    assert issue["description"] == "Grapes were missing"
    assert maya.day(food["delivered_at"]) == "2025-10-24"
    cake = await maya.mail("personal", "lemon poppy cake", "Your cake for 25 October")
    assert "58.00" in cake["body"] and "Jordan 35" in cake["body"]
    praised = [
        await maya.my_review(site, "Plum & Poppy Cakes") for site in ("yelp", "google_map_review")
    ]
    assert {(r["rating"], r["day"]) for r in praised} == {(5, "2025-10-27")}
    book = await maya.one("venmo.get_debit_card_transactions", lambda p: "Powell" in p["merchant"])
    assert cents(book["amount"]) == 2195 and maya.day(book["at"]) == "2025-10-25"
    ride = await maya.ride("uber", "2025-10-25T22:20")
    assert ride["cancelled"] == 500 and ride["tip"] == 0
    playlist = await maya.playlist("Jordan thirty-five")
    friends = {c["display_name"] for c in playlist["collaborators"]}
    assert friends == {"Jordan Park", "Priya Nair"} and "priya.nair@gmail.com" in party["guests"]
    assert await maya.played_on(playlist, "2025-10-25")


async def test_what_i_still_owe_for_the_cabin_when_we_may_come_and_what_i_bring(maya: Walk) -> None:
    asked = await maya.one(
        "venmo.list_requests",
        lambda r: (
            r["direction"] == "incoming"
            and r["contact"]["name"] == "Priya Nair"
            and r["status"] == "pending"
        ),
    )
    cost = await maya.mail_from("personal", "cabin 640 money", "priya.nair@gmail.com")
    assert "640 in all" in cost["body"]
    assert "128 each for the five of us" in cost["body"]
    assert cents(asked["amount"]) == 64000 / 5
    assert asked["created_at"] > cost["created_at"]
    priya = await maya.payments_with("venmo", "Priya Nair")
    same_sum = [t for t in priya if cents(t["amount"]) == 12800]
    sent = [t for t in same_sum if "transaction_id" in t]
    concert = await maya.event("google_calendar", "Concert with Priya")
    (paid,) = [t for t in sent if t["status"] == "completed"]
    assert paid is not asked
    assert paid["note"] == "Concert tickets"
    assert maya.day(paid["created_at"]) == maya.day(concert["at"]) == "2026-01-15"

    weekend = await maya.event("google_calendar", "Cabin weekend at Hood River")
    copy = await maya.event("outlook_calendar", "Cabin weekend at Hood River (copied)")
    moved = await maya.mail_from("personal", "check-in moves to 16:00", "priya.nair@gmail.com")
    first = await maya.mail_from("personal", "4410 Larkspur Lane check-in", "priya.nair@gmail.com")
    assert maya.local(weekend["at"]) == "2026-03-27T16:00"
    assert maya.local(copy["at"]) == "2026-03-27T15:00"
    assert "from 15:00" in first["body"]
    assert "16:00 on Friday" in moved["body"]
    assert first["created_at"] < moved["created_at"]
    assert "7302" in moved["body"]
    assert "7302" in weekend["note"]
    assert "4410 Larkspur Lane" in weekend["where"]
    assert {"jordan.park@gmail.com", "ben.asher@gmail.com", "ana.reyes@gmail.com"} <= weekend[
        "guests"
    ]
    page = await maya.page("notion", "Cabin packing list")
    bring = (await maya.mails("personal", "who brings big pot plates coffee"))[0]
    assert all(
        thing in page["text"] and thing in bring["body"]
        for thing in ("big pot", "plates", "coffee", "head torch")
    )
    assert "15:00" in page["text"]
    assert page["updated_at"] < moved["created_at"]  # nobody has updated the list
    food = await maya.whole("instacart", lambda o: o["total"] == 5835)
    assert maya.day(food["delivery_window"]["start"]) == "2026-03-26"
    assert food["status"] == "received"


async def test_with_whom_i_had_ramen_on_which_day_and_who_has_not_paid_yet(maya: Walk) -> None:
    lunch = await maya.event("outlook_calendar", "Ramen lunch with Tomas")
    night = await maya.event("google_calendar", "Ramen night")
    copy = await maya.event("outlook_calendar", "Ramen night (copied)")
    assert [maya.day(e["at"]) for e in (lunch, copy, night)] == [
        "2026-03-05",
        "2026-03-05",
        "2026-03-06",
    ]
    assert {"tomas.lind@fernhill.design"} <= lunch["guests"]
    assert "tomas.lind@fernhill.design" not in night["guests"]
    shares = await maya.shares(8840, "Ramen night at Afuri")
    assert {(s["contact"]["name"], s["status"]) for s in shares} == {
        ("Jordan Park", "paid"),
        ("Ben Asher", "pending"),
        ("Priya Nair", "pending"),
    }
    assert {cents(s["amount"]) for s in shares} == {8840 / 4}
    assert {maya.day(s["created_at"]) for s in shares} == {maya.day(night["at"])}
    tomas = await maya.one("venmo.list_requests", lambda r: r["note"] == "Ramen lunch")
    assert tomas["contact"]["name"] == "Tomas Lind"
    assert cents(tomas["amount"]) == 1400
    assert tomas["status"] == "pending"
    assert maya.day(tomas["created_at"]) == maya.day(lunch["at"])
    there = await maya.ride("lyft", "2026-03-06T18:40")
    back = await maya.ride("lyft", "2026-03-06T21:30")
    assert there["to"] == back["from"]
    assert there["to"].startswith("Afuri, 923 SE 7th Avenue")
    assert "923 SE 7th Avenue" in night["where"]
    review = await maya.my_review("google_map_review", "Afuri")
    assert review["rating"] == 4
    assert "under ninety dollars" in review["text"]
    assert review["day"] == "2026-03-07"


async def test_what_the_team_dinner_cost_with_the_way_home_and_where_the_receipt_is(
    maya: Walk,
) -> None:
    dinner = await maya.event("outlook_calendar", "Team dinner")
    receipt = await maya.mail_from("work", "Tilikum Kitchen 48.60", "receipts@tilikumkitchen.com")
    assert "Four guests, total 48.60" in receipt["body"]
    assert "11 February" in receipt["body"]
    assert receipt["folder"] == "archive"
    assert maya.day(dinner["at"]) == maya.day(receipt["created_at"]) == "2026-02-11"
    assert len(dinner["guests"]) == 4
    ride = await maya.ride("uber", "2026-02-11T21:05")
    assert cents(ride["fare"]) + cents(ride["tip"]) == 3120
    assert ride["from"].startswith("Tilikum Kitchen, 608 SW Harbor Way")
    review = await maya.my_review("google_map_review", "Tilikum Kitchen")
    assert "608 SW Harbor Way" in review["place"]["formatted_address"]
    assert "608 SW Harbor Way" in dinner["where"]
    assert (review["rating"], review["day"]) == (4, "2026-02-12")


async def test_what_came_wrong_from_lotus_and_lime_how_much_came_back_and_who_is_the_other_lotus(
    maya: Walk,
) -> None:
    order = await maya.whole(
        "doordash",
        lambda o: (
            o["restaurant_name"] == "Lotus & Lime" and maya.day(o["created_at"]) == "2026-02-03"
        ),
    )
    mails = await maya.mails("personal", "Lotus Lime refunded")
    (mail,) = [m for m in mails if "the mango sticky rice" in m["body"]]
    assert mail["subject"] == "Your refund from Lotus & Lime"
    refund = f"{order['refund']['amount']:.2f} of {order['total']:.2f}"
    assert f"{refund} to Visa ending in {order['payment']['last4']}" in mail["body"]
    assert maya.day(mail["created_at"]) == maya.day(order["created_at"])
    assert "chicken" in order["refund"]["reason"]
    assert order["arrived_at"] < mail["created_at"]
    mine = await maya.my_review("yelp", "Lotus & Lime")
    others = await maya.all(
        "yelp.get_reviews_for_business", business_id=mine["place"]["business_id"]
    )
    assert mine["rating"] == 2 < max(r["rating"] for r in others if not r["is_mine"])
    cart = await maya.one(
        "yelp.search_businesses", lambda b: b["name"] == "Lotus Lime Cart", query="Lotus Lime"
    )
    assert "the cart downtown is somebody else" in mine["text"]
    assert cart["address"] != mine["place"]["address"]
    same = await maya.one(
        "google_map_review.search_places", lambda p: p["name"] == "Lotus & Lime", query="Lotus"
    )
    assert mine["place"]["address"] in same["formatted_address"]


async def test_from_which_money_the_market_stall_was_paid_and_whether_the_market_was_worth_it(
    maya: Walk,
) -> None:
    tries = [t for t in await maya.payments("venmo") if t["note"] == "Holiday market stall"]
    paid = next(t for t in tries if t["status"] == "completed")
    failed = next(t for t in tries if t["status"] == "failed")
    assert len(tries) == 2
    assert {(t["contact"]["name"], cents(t["amount"])) for t in tries} == {("Ben Archer", 14000)}
    assert failed["failure"] == "CARD_DECLINED" and failed["created_at"] < paid["created_at"]
    trade = await maya.one(
        "robinhood.list_trades",
        lambda t: t["side"] == "sell" and maya.day(t["created_at"]) == maya.day(paid["created_at"]),
    )
    assert cents(trade["filled_amount"]) == cents(paid["amount"])
    assert trade["created_at"] > paid["created_at"]
    bank = (await maya.call_ok("robinhood.get_account"))["linked_bank"]
    known = await maya.one("zelle.list_enrolled_banks", lambda b: b["last4"] == bank["last4"])
    assert known["name"] == bank["name"] == paid["source"]["name"]
    market = await maya.event("google_calendar", "Northlight holiday market")
    ride = await maya.ride("uber", "2025-12-13T08:30")
    assert "Stall 140" in market["note"]
    assert maya.day(market["at"]) == "2025-12-13"
    assert "2240 N Interstate Avenue" in ride["to"]
    assert "2240 N Interstate Avenue" in market["where"] and ride["kind"] == "uberxl"
    page = await maya.page("notion", "Market kit")
    assert "11 cups, 4 bowls, 1 moon jar" in page["text"]
    spring = await maya.mail_from("studio", "table 14 east door", "ben.archer@northlight.org")
    plan = await maya.event("google_calendar", "Northlight spring market")
    assert "85 for a single table instead of 75" in spring["body"]
    assert "85 due by 20 March, not 75" in plan["note"]
    archer = await maya.payments_with("venmo", "Ben Archer")
    wrong = [t for t in archer if "Smith Rock" in t["note"]]
    asher = await maya.payments_with("venmo", "Ben Asher")
    right = [t for t in asher if t["note"] == wrong[0]["note"]]
    assert wrong[0]["status"] == "cancelled"
    assert [cents(t["amount"]) for t in (wrong[0], right[0])] == [2200, 2200]
