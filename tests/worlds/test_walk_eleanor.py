"""Ten questions that Eleanor might ask, each answered by services that have to agree."""

from __future__ import annotations

import pytest

from servers.kit.values import cents
from tests.worlds.walks import Walk

pytestmark = pytest.mark.anyio


@pytest.fixture
def eleanor() -> Walk:
    return Walk("eleanor")


async def test_what_new_york_still_costs_when_we_leave_and_which_amsterdam_court_is_ours(
    eleanor: Walk,
) -> None:
    first, corrected = (await eleanor.letters("choir", "New York deposit 150", "gloria_mendez"))[:2]
    assert "475 each" in first["body"]
    assert "485 each, not 475" in corrected["body"]
    assert "335 is left" in corrected["body"]
    paid = await eleanor.one("zelle.list_transfers", lambda t: t["note"] == "New York deposit")
    asked = await eleanor.one(
        "zelle.list_transfer_requests",
        lambda r: r["contact"]["name"] == "Gloria Mendez" and r["status"] == "pending",
    )
    assert cents(paid["amount"]) + cents(asked["amount"]) == 48500
    assert asked["created_at"] > corrected["created_at"] > paid["created_at"]
    due = await eleanor.event("google_calendar", "Rest for New York due, 335")
    assert eleanor.day(due["at"]) == "2026-10-23" and "due on 23 October" in corrected["body"]

    trip = await eleanor.event("google_calendar", "Choir trip to New York")
    copy = await eleanor.event("outlook_calendar", "Choir trip to New York (copied)")
    assert eleanor.local(trip["at"]) == "2026-11-12T09:15"
    assert eleanor.local(copy["at"]) == "2026-11-12T07:40"
    assert "We leave at 9:15, not 7:40" in corrected["body"] and "7:40" in first["body"]
    page = await eleanor.page("notion", "New York with the choir")
    shared = await eleanor.page("notion", "New York for altos")
    assert "475 each" in page["text"]
    assert "7:40" in page["text"]
    assert page["updated_at"] < corrected["created_at"]
    assert "485 each" in shared["text"] and "9:15" in shared["text"]

    ours = await eleanor.whole(
        "expedia", lambda t: t["hotel"]["hotel_name"] == "The Amsterdam Court"
    )
    other = await eleanor.whole("booking", lambda b: b["property_name"] == "Amsterdam Court Hotel")
    told = (await eleanor.letters("choir", "Amsterdam Court avenue", "gloria_mendez"))[0]
    street = ours["hotel"]["address"].split(",")[0]
    assert street in told["body"] and street in shared["text"] and street not in other["address"]
    assert (
        other["booking_status"] == ours["booking_status"] == "confirmed"
    )  # the wrong one has not been removed
    kept = await eleanor.mail(
        "personal", "Amsterdam Court Hotel", "Confirmed: Amsterdam Court Hotel"
    )
    assert "522.00" in kept["body"]
    assert "10 November" in kept["body"]
    assert cents(other["total_price"]) == 52200
    assert eleanor.day(other["free_cancellation_until"]) == "2026-11-10"
    half = await eleanor.one(
        "venmo.list_requests", lambda r: r["note"] == "Half of our room in New York"
    )
    assert half["contact"]["name"] == "Ruth Abernathy"
    assert cents(half["amount"]) * 2 == cents(ours["price"]["total"])
    assert half["status"] == "pending"
    ride = await eleanor.ride("uber", "2026-11-12T06:45")
    assert trip["where"].split(",")[0] in ride["to"] and cents(ride["fare"]) == 2980


async def test_where_i_sleep_for_theos_birthday_when_his_party_is_and_in_which_charleston(
    eleanor: Walk,
) -> None:
    stay = await eleanor.whole(
        "booking",
        lambda b: b["check_in_date"] == "2026-10-17" and b["booking_status"] == "confirmed",
    )
    mail = await eleanor.mail(
        "personal", "Meeting Street Suites", "Confirmed: Meeting Street Suites"
    )
    assert stay["property_name"] == "Meeting Street Suites"
    assert f"{stay['total_price']:.2f}" in mail["body"]
    assert stay["address"].split(",")[0] in mail["body"]
    assert eleanor.day(stay["booked_at"]) == eleanor.day(mail["created_at"])
    dear = await eleanor.whole("booking", lambda b: b["property_name"] == "Battery House Inn")
    gone = await eleanor.mail("personal", "Battery House Inn", "Cancelled: Battery House Inn")
    assert dear["booking_status"] == "cancelled"
    assert f"{dear['total_price']:.2f}" in gone["body"]
    assert dear["total_price"] > stay["total_price"]
    far = await eleanor.whole("expedia", lambda t: t["hotel"]["hotel_name"] == "Battery Street Inn")
    told = await eleanor.mail(
        "personal", "Battery Street Inn", "Your stay at the Battery Street Inn"
    )
    assert far["booking_status"] == "cancelled"
    assert "Charleston, WV 25301" in far["hotel"]["address"]
    assert "Charleston, WV 25301" in told["body"]
    assert f"{far['price']['total']:.2f}" in told["body"]
    assert far["check_in_date"] == stay["check_in_date"]

    trip = await eleanor.event("google_calendar", "Theo's birthday in Charleston")
    train = await eleanor.mail("personal", "Coastal Line Rail", "Your tickets to Charleston")
    ride = await eleanor.ride("uber", "2026-10-17T08:10")
    assert "Savannah 8:40" in train["body"]
    assert "Train at 8:40" in trip["note"]
    assert cents(ride["fare"]) == 1480
    party = await eleanor.event("google_calendar", "Theo's party at the planetarium")
    copy = await eleanor.event("outlook_calendar", "Theo's party at the planetarium (copied)")
    assert [eleanor.local(e["at"]) for e in (party, copy)] == [
        "2026-10-18T14:00",
        "2026-10-17T14:00",
    ]
    moved = (await eleanor.letters("personal", "planetarium Sunday", "caroline_hayes"))[0]
    assert "Sunday 18 October at 14:00" in moved["body"]
    assert "maddie.whitfield@gmail.com" in party["guests"]
    page = await eleanor.page("notion", "Theo is twelve")
    assert "Sunday 18 October at 14:00" in page["text"] and "Saturday 17 October" in page["text"]

    saved = {
        b["label"]: b["place"]["state"]
        for b in await eleanor.all("yahoo_weather.get_bookmarked_locations")
    }
    kept = {
        b["label"]: b["location"]["state"]
        for b in await eleanor.all("weather_com.get_saved_locations")
    }
    assert (kept["Charleston"], saved["Charleston"]) == ("South Carolina", "West Virginia")


async def test_which_telescope_theo_gets_what_it_cost_and_what_came_back_for_the_toy(
    eleanor: Walk,
) -> None:
    toy = await eleanor.whole("amazon", lambda o: o["total"] == 3490)
    real = await eleanor.whole("amazon", lambda o: o["total"] == 18950)
    back = await eleanor.one("amazon.list_returns", lambda r: r["order_id"] == toy["order_id"])
    assert back["status"] == "refunded"
    assert back["refund_amount"] == 3490
    assert toy["pricing"]["refunded"] == 3490
    told = await eleanor.mail_from(
        "personal", "toy mistake reflector", eleanor.person["emails"]["personal"]
    )
    assert "34.90" in told["body"]
    assert "189.50" in told["body"]
    assert "4.5 inch reflector" in told["body"]
    assert any("eflector" in i["title"] for i in real["items"])
    assert eleanor.day(real["placed_at"]) == eleanor.day(told["created_at"])
    page = await eleanor.page("notion", "Theo is twelve")
    assert "the toy went back, the reflector comes on the 13th" in page["text"]
    assert eleanor.day(real["estimated_delivery"]) == "2026-10-13"
    cards = {
        c["payment_method_id"]: c["last_four"]
        for c in await eleanor.all("amazon.list_payment_methods")
    }
    assert {cards[o["payment_method_id"]] for o in (toy, real)} == {
        eleanor.person["cards"]["amex"]["last4"]
    }
    playlist = await eleanor.playlist("Theo is twelve")
    assert [c["display_name"] for c in playlist["collaborators"]] == ["Maddie Whitfield"]


async def test_what_my_birthday_dinner_cost_and_how_much_marcus_still_owes_me(
    eleanor: Walk,
) -> None:
    title = "My birthday dinner, Bella Oglethorpe"
    dinner = await eleanor.event("google_calendar", title)
    copy = await eleanor.event("outlook_calendar", f"{title} (copied)")
    assert eleanor.local(dinner["at"]) == "2026-04-19T18:00"
    assert eleanor.local(copy["at"]) == "2026-04-18T18:00"
    receipt = await eleanor.mail("personal", "Bella Oglethorpe dinner six", "Your evening with us")
    assert "480.00 with tip, on the Amex ending in 5003" in receipt["body"]
    assert eleanor.day(receipt["created_at"]) == eleanor.day(dinner["at"])
    owed = (await eleanor.letters("personal", "owe dinner 240", "marcus_whitfield"))[0]
    assert "I owe you 240 for the dinner, half of 480" in owed["body"]
    came = await eleanor.one(
        "venmo.list_transactions",
        lambda t: t["type"] == "payment_received" and t["note"] == "Your birthday",
    )
    asked = await eleanor.one(
        "venmo.list_requests", lambda r: r["note"] == "The rest of the birthday dinner"
    )
    assert {came["contact"]["name"], asked["contact"]["name"]} == {"Marcus Whitfield"}
    assert asked["status"] == "pending"
    assert cents(came["amount"]) + cents(asked["amount"]) == 24000
    assert came["created_at"] > owed["created_at"]
    rides = [await eleanor.ride("uber", at) for at in ("2026-04-19T17:40", "2026-04-19T20:40")]
    assert [cents(r["fare"]) for r in rides] == [
        690,
        1120,
    ]
    assert "15 West Oglethorpe Avenue" in rides[0]["to"] == rides[1]["from"]
    assert rides[0]["to"].split(",")[1] in dinner["where"]
    mine = await eleanor.my_review("yelp", "Bella Oglethorpe")
    namesake = await eleanor.one(
        "yelp.search_businesses", lambda b: b["name"] == "Oglethorpe Trattoria", query="Oglethorpe"
    )
    assert "Not the Trattoria on Abercorn Street" in mine["text"]
    assert "Abercorn Street" in namesake["address"]
    others = await eleanor.all(
        "yelp.get_reviews_for_business", business_id=mine["place"]["business_id"]
    )
    mistaken = next(r for r in others if "trattoria on Abercorn" in r["text"])
    assert (
        mistaken["rating"] == 2 < mine["rating"] == 5
    )  # a review that was meant for the other one
    cake = await eleanor.one(
        "venmo.get_debit_card_transactions", lambda p: p["merchant"] == "Sweet Verbena"
    )
    ordered = await eleanor.mail("personal", "coconut cake ten", "Your coconut cake")
    assert f"{cake['amount']:.2f}" in ordered["body"]
    assert eleanor.day(cake["at"]) == "2026-04-18"
    assert "Saturday 18 April" in ordered["body"]
    vase = await eleanor.whole("target", lambda o: o["total"] == 3844)
    assert vase["refunded"] == 1899 and eleanor.day(vase["placed_at"]) == "2026-04-12"


async def test_what_the_friends_owed_me_for_the_tables_and_what_the_book_sale_brought(
    eleanor: Walk,
) -> None:
    order = await eleanor.whole("amazon", lambda o: o["total"] == 20997)
    back = await eleanor.one("amazon.list_returns", lambda r: r["order_id"] == order["order_id"])
    owed = await eleanor.mail("work", "tables Friends owe", "The folding tables")
    total = order["pricing"]["total"]
    for amount in (total, back["refund_amount"], total - back["refund_amount"]):
        assert f"{amount / 100:.2f}" in owed["body"]
    assert back["refund_amount"] == order["pricing"]["refunded"]
    assert back["requested_at"] < owed["created_at"]
    signed = await eleanor.letter(
        "work", "Signed 139.98 1172", "janelle_brooks", "Signed: 139.98 to you, number 1172"
    )
    assert eleanor.day(signed["created_at"]) == "2026-09-28"
    sale = await eleanor.event("outlook_calendar", "Book sale of the Friends")
    copies = await eleanor.event("google_calendar", "Book sale of the Friends (copied)")
    assert eleanor.local(sale["at"]) == "2026-09-19T10:00"
    assert eleanor.local(copies["at"]) == "2026-09-12T10:00"
    page = await eleanor.page("confluence", "Book sale September")
    me = eleanor.person["emails"]
    counted = await eleanor.letter("work", "counted 1,284.50", me["work"], "I counted again")
    first = (await eleanor.letters("work", "1,248.50 best September", "janelle_brooks"))[0]
    assert "1,284.50" in page["text"]
    assert "1,248.50" not in page["text"]
    assert first["created_at"] < counted["created_at"]
    ride = await eleanor.ride("lyft", "2026-09-19T07:30")
    assert sale["where"].split(",")[1].strip() in ride["to"]
    assert cents(ride["fare"]) == 1940
    assert cents(ride["tip"]) == 400


async def test_whether_the_roof_may_be_paid_where_the_money_is_and_which_price_he_is(
    eleanor: Walk,
) -> None:
    first, corrected = (await eleanor.letters("personal", "porch roof half", "lyle_price"))[:2]
    assert "5,900" in first["body"]
    assert "6,400" in corrected["body"]
    assert "3,200" in corrected["body"]
    asked = await eleanor.one(
        "zelle.list_transfer_requests", lambda r: r["contact"]["name"] == "Lyle Price"
    )
    assert asked["direction"] == "incoming"
    assert asked["status"] == "pending"
    assert cents(asked["amount"]) * 2 == 640000
    wait = (await eleanor.letters("personal", "3,200 licence insurance", "caroline_hayes"))[0]
    later = (await eleanor.letters("personal", "Leave that request", "caroline_hayes"))[0]
    assert "do not send him 3,200" in wait["body"]
    assert wait["created_at"] < asked["created_at"] < later["created_at"]
    trade = await eleanor.one(
        "fidelity.list_orders",
        lambda o: o["side"] == "sell" and eleanor.day(o["placed_at"]) == "2026-09-15",
    )
    me = eleanor.person["emails"]["personal"]
    told = await eleanor.letter(
        "personal", "Fidelity 3,500 roof", me, "I sold 3,500 at Fidelity today"
    )
    assert cents(trade["filled_value"]) == 350000
    assert eleanor.day(told["created_at"]) == "2026-09-15"
    holder = await eleanor.call_ok("fidelity.get_investor_profile")
    bank = await eleanor.one(
        "zelle.list_enrolled_banks", lambda b: b["last4"] == holder["bank"]["last4"]
    )
    assert holder["cash_available_to_withdraw"] >= 3500 and bank["name"] == holder["bank"]["name"]
    transfers = await eleanor.all("fidelity.list_transfers")
    withdrawals = [t for t in transfers if t["type"] == "withdrawal"]
    assert not [t for t in withdrawals if t["requested_at"] > trade["placed_at"]]
    plan = await eleanor.event("google_calendar", "Porch roof, Price Roofing, perhaps")
    assert eleanor.day(plan["at"]) == "2026-10-26"
    assert "only when Caroline agrees" in plan["note"]
    assert "26 October" in corrected["body"]
    page = await eleanor.page("notion", "Porch roof")
    assert "5,900" in page["text"] and "6,400" in page["text"] and "not Lionel" in page["text"]
    roofer = await eleanor.one(
        "google_map_review.search_places",
        lambda p: p["name"] == "Price Roofing",
        query="Price Roofing",
    )
    reviews = await eleanor.all(
        "google_map_review.get_place_reviews", business_id=roofer["business_id"]
    )
    warnings = [r["text"] for r in reviews if r["rating"] == 1]
    assert any("Ask for a licence number" in text for text in warnings)
    assert roofer["rating"] > 4  # twelve glowing reviews in August outweigh the warning
    lionel = await eleanor.payments_with("venmo", "Lionel Price")
    asked = [r for r in lionel if r.get("direction") == "outgoing"]
    assert {cents(r["amount"]) for r in asked if r["status"] == "pending"} == {2100}


async def test_how_much_of_the_distribution_is_left_and_who_worked_it_out_wrong(
    eleanor: Walk,
) -> None:
    reply = await eleanor.letters("personal", "distribution 4,000 March", "amit_desai")
    first, corrected = reply[:2]
    assert "8,180 is left" in first["body"]
    assert "7,820 is left" in corrected["body"]
    assert "11,820" in corrected["body"]
    status = await eleanor.call_ok("vanguard.get_rmd_status")
    worked = await eleanor.call_ok("vanguard.calculate_rmd")
    assert cents(status["last_calculated_rmd"]) == cents(worked["rmd_amount"]) == 1182000
    assert cents(status["remaining"]) == 782000
    out = await eleanor.one("vanguard.list_withdrawals", lambda w: cents(w["amount"]) == 400000)
    assert cents(status["withdrawn_this_year"]) == 400000
    assert eleanor.day(out["requested_at"]) == "2026-03-16"
    bank = await eleanor.one("zelle.list_enrolled_banks", lambda b: b["last4"] == out["bank"][-4:])
    assert out["bank"].startswith(bank["name"]) and out["status"] == "completed"
    page = await eleanor.page("notion", "The distribution")
    assert all(figure in page["text"] for figure in ("4,000", "12,180", "11,820"))
    event = await eleanor.event("google_calendar", "Rest of the distribution before Thanksgiving")
    assert "7,820 by the corrected letter, not 8,180" in event["note"]
    assert eleanor.day(event["at"]) == "2026-11-18"
    old = await eleanor.one(
        "google_calendar.search_events",
        lambda e: e["title"] == "Distribution: 8,180",
        query="Distribution 8,180",
    )
    assert first["created_at"] < corrected["created_at"]
    assert old["created_at"] < corrected["created_at"]


async def test_what_is_off_because_of_the_storm_and_whether_we_have_water(eleanor: Walk) -> None:
    alert = (await eleanor.all("weather_com.get_alerts", location="Savannah, Georgia"))[0]
    assert alert["event"] == "Tropical Storm Watch"
    assert alert["start_time"][:10] == "2026-10-08"
    assert alert["end_time"][:10] == "2026-10-09"
    assert any("Rain" in sky for sky in await eleanor.skies("Savannah, Georgia", "2026-10-09"))
    saved = await eleanor.one(
        "yahoo_weather.get_bookmarked_locations", lambda b: b["label"] == "Savannah"
    )
    assert saved["place"]["state"] == "Tennessee"
    assert not await eleanor.all(
        "yahoo_weather.get_weather_alerts", location=saved["place"]["woeid"]
    )
    hank = next(
        m for m in await eleanor.letters("personal", "storm Thursday shutters", "hank_mulder")
    )
    assert "Thursday night to Friday noon" in hank["body"]
    food = await eleanor.whole("instacart", lambda o: o["total"] == 7142)
    assert eleanor.day(food["delivery_window"]["start"]) == "2026-10-07"
    assert any("Water" in i["name"] for i in food["items"])
    assert food["payment"]["last_four"] == eleanor.person["cards"]["visa"]["last4"]
    assert food["store_name"].startswith("Habersham")
    off = (await eleanor.letters("choir", "Thursday 8 October storm", "lionel_price"))[0]
    rehearsal = await eleanor.event("google_calendar", "Rehearsal, instead of Thursday")
    copy = await eleanor.event("outlook_calendar", "Rehearsal, instead of Thursday (copied)")
    assert eleanor.local(rehearsal["at"]) == "2026-10-13T18:30"
    assert "Tuesday 13 October at 18:30" in off["body"]
    assert eleanor.local(copy["at"]) == "2026-10-08T18:30"
    assert "do not sing on Thursday 8 October" in off["body"]
    library = (await eleanor.letters("work", "library closed shelter", "ruth_ann_abney"))[0]
    assert "Thursday 8 and Friday 9 October" in library["body"]
    playlist = await eleanor.one("spotify.get_user_playlists", lambda p: p["name"] == "Alto parts")
    assert "Gloria Mendez" in {c["display_name"] for c in playlist["collaborators"]}


async def test_when_i_see_dr_osei_how_i_get_there_and_when_ruth_and_i_eat_then(
    eleanor: Walk,
) -> None:
    visit = await eleanor.event("google_calendar", "Check-up, Dr. Osei")
    copy = await eleanor.event("outlook_calendar", "Check-up, Dr. Osei (copied)")
    letter = (await eleanor.letters("personal", "appointment 14 October card", "dr_osei"))[0]
    assert eleanor.local(visit["at"]) == "2026-10-14T10:30"
    assert eleanor.local(copy["at"]) == "2026-10-07T10:30"
    assert "Wednesday 14 October at 10:30" in letter["body"]
    assert "not on the 7th as the card says" in letter["body"]
    page = await eleanor.page("notion", "Doctors and pills")
    assert "7 October at 10:30 (from the card)" in page["text"] and "not Osei!" in page["text"]
    ride = await eleanor.ride("lyft", "2026-10-14T10:00")
    assert visit["where"].split(",")[1].strip() in ride["to"] and cents(ride["fare"]) == 1240
    place = await eleanor.one(
        "google_map_review.search_places", lambda p: "Osei" in p["name"], query="Osei"
    )
    assert visit["where"].split(",")[1].strip() in place["formatted_address"]
    lunch = await eleanor.event("google_calendar", "Wednesday lunch, later because of the doctor")
    agreed = (await eleanor.letters("personal", "Ardsley Grill booth", "ruth_abernathy"))[0]
    assert eleanor.local(lunch["at"]) == "2026-10-14T13:00" >= eleanor.local(visit["end"])
    assert "One o'clock on the 14th" in agreed["body"]
    assert lunch["where"].split(",")[0] == "The Ardsley Grill" or "Ardsley Grill" in lunch["where"]
    surgery = await eleanor.event("google_calendar", "Cataract, left eye, Dr. Osgood")
    reply = await eleanor.letters("personal", "left eye surgery drops", "dr_osgood")
    assert "Tuesday 3 November at 8:30" in reply[0]["body"]
    assert eleanor.local(surgery["at"]) == "2026-11-03T08:30" and "no apps" in surgery["note"]
    rides = [*await eleanor.rides("uber"), *await eleanor.rides("lyft")]
    assert not [r for r in rides if r["at"].startswith("2026-11-03")]


async def test_what_came_wrong_where_we_ate_instead_of_the_captain_and_who_says_he_is_there(
    eleanor: Walk,
) -> None:
    order = await eleanor.whole(
        "doordash",
        lambda o: (
            o["restaurant_name"] == "Lotus Garden" and eleanor.day(o["created_at"]) == "2026-06-04"
        ),
    )
    mine = await eleanor.my_review("yelp", "Lotus Garden")
    assert cents(order["total"]) == 3820
    assert cents(order["refund"]["amount"]) == 1475
    assert "rolls missing" in order["refund"]["reason"]
    assert mine["rating"] == 3 < mine["place"]["rating"]
    assert "gave back part of it" in mine["text"]
    assert mine["day"] == "2026-06-05"
    lunch = await eleanor.event("google_calendar", "Wednesday lunch, not at Captain Teal's")
    receipt = await eleanor.mail(
        "personal", "Three Herons receipt", "Your receipt from Three Herons"
    )
    ride = await eleanor.ride("uber", "2026-07-08T12:05")
    assert "10 Lafayette Drive" in lunch["where"]
    assert "10 Lafayette Drive" in ride["to"]
    assert "71.20" in receipt["body"]
    assert eleanor.day(receipt["created_at"]) == eleanor.day(lunch["at"]) == "2026-07-08"
    assert lunch["at"] < receipt["created_at"] <= lunch["end"]
    closed = await eleanor.one(
        "yelp.search_businesses",
        lambda b: b["name"] == "Captain Teal's",
        query="Captain Teal",
        include_closed=True,
    )
    shown = await eleanor.my_review("google_map_review", "Captain Teal's")
    assert closed["is_closed"]
    assert shown["place"]["business_status"] == "OPERATIONAL"  # the map has not noticed yet
    assert shown["rating"] == 3
    assert shown["text"].startswith("Closed.")
    assert shown["day"] == "2026-07-09"
    assert closed["address"] in shown["place"]["formatted_address"] and "30 June" in lunch["note"]
    last = await eleanor.one(
        "doordash.get_dash_history", lambda o: o["restaurant_name"] == "Captain Teal's"
    )
    assert last["status"] == "cancelled" and eleanor.day(last["created_at"]) < "2026-06-30"
