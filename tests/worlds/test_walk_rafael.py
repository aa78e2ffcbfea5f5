"""Ten questions that Rafael might ask, each answered by services that have to agree."""

from __future__ import annotations

import pytest

from servers.kit.values import cents
from tests.worlds.walks import Walk

pytestmark = pytest.mark.anyio


@pytest.fixture
def rafael() -> Walk:
    return Walk("rafael")


async def test_what_is_paid_for_mamas_party_what_is_open_and_where_we_have_to_be_when(
    rafael: Walk,
) -> None:
    party = await rafael.event("google_calendar", "Mamá is 70, Salón Misión")
    hall = await rafael.mail("personal", "Salón Misión hall", "Your booking")
    assert rafael.local(party["at"]) == "2026-06-27T13:30"
    assert "4310 South Flores Street" in party["where"]
    assert "450.00 paid" in hall["body"]
    assert "4310 South Flores Street" in hall["body"]
    assert "Las Misiones by mistake" in hall["body"]
    other = await rafael.one(
        "google_map_review.search_places",
        lambda p: p["name"] == "Salón Las Misiones",
        query="Misiones",
    )
    reply = await rafael.letters("personal", "Misiones 27 June 520", "info@lasmisiones-hall.com")
    refused = reply[0]
    assert "1918 Mission Road" in other["formatted_address"]
    assert "1918 Mission Road" in refused["body"]

    mass = await rafael.event("google_calendar", "Mass for mamá's 70th")
    old = await rafael.event("outlook_calendar", "Mass for mamá's 70th (copied)")
    words = "baptism mass 27 June"
    moved = await rafael.letter("personal", words, "father_tomas", "Saturday 27 June at 11:00")
    assert [rafael.local(e["at"]) for e in (mass, old)] == ["2026-06-27T11:00", "2026-06-27T10:00"]
    assert "Saturday 27 June at 11:00" in moved["body"]
    assert rafael.local(mass["end"]) < rafael.local(party["at"])
    page = await rafael.page("notion", "Mamá 70")
    assert "mass at San Juan, 10:00" in page["text"]
    assert "62 guests now" in page["text"]
    assert "62 guests" in party["note"]

    band = await rafael.one(
        "venmo.list_transactions", lambda t: t["note"] == "Band for mamá, first half"
    )
    told = (await rafael.letters("personal", "three hours half day", "pedro_alvarez"))[0]
    assert band["contact"]["name"] == "Pedro Alvarez"
    assert cents(band["amount"]) * 2 == 60000
    assert "600, half now" in told["body"]
    cake = await rafael.one("venmo.list_requests", lambda r: r["note"] == "Cake")
    wish = await rafael.letter("personal", "Tres leches seventy", "berta_salinas", "berta-cakes")
    assert cake["contact"]["username"] == "berta-cakes"
    assert cake["status"] == "declined"
    assert cents(cake["amount"]) == 18000
    assert "180" in wish["body"]
    meat = await rafael.one("venmo.list_requests", lambda r: r["note"] == "Meat for the 27th")
    dearer = (await rafael.letters("personal", "420 not 360 butcher", "beto_salinas"))[0]
    assert meat["contact"]["name"] == "Beto Salinas"
    assert meat["status"] == "pending"
    assert cents(meat["amount"]) == 42000
    assert meat["created_at"] < dearer["created_at"]
    assert all(
        figure in page["text"]
        for figure in ("cake 180", "420 for the meat", "450 paid", "214 paid")
    )
    ride = await rafael.ride("lyft", "2026-06-27T10:20")
    dropped = await rafael.ride("uber", "2026-06-27T13:05")
    assert ride["from"] == dropped["from"]
    assert ride["cancelled"] is None
    assert dropped["cancelled"] == 0
    playlist = await rafael.one("spotify.get_user_playlists", lambda p: p["name"] == "Mamá setenta")
    assert {c["display_name"] for c in playlist["collaborators"]} == {
        "Lucia Ortega",
        "Sofia Ortega",
    }


async def test_where_we_sleep_in_austin_when_the_first_game_is_and_what_monica_still_gets(
    rafael: Walk,
) -> None:
    stay = await rafael.whole(
        "booking",
        lambda b: b["property_name"] == "Onion Creek Suites" and b["check_in_date"] == "2026-07-10",
    )
    mail = await rafael.mail("personal", "Onion Creek Suites 278", "Confirmed: Onion Creek Suites")
    asked = (await rafael.letters("team", "Onion Creek Suites JAGS", "coach_reyes"))[0]
    street = stay["address"].split(",")[0]
    assert stay["booking_status"] == "confirmed"
    assert f"{stay['total_price']:.2f}" in mail["body"]
    assert street in mail["body"]
    assert street in asked["body"]
    assert cents(stay["total_price"]) == 2 * 13900
    assert "139 a night" in asked["body"]
    inn = await rafael.one(
        "google_map_review.search_places",
        lambda p: p["name"] == "Onion Creek Inn",
        query="Onion Creek Inn",
    )
    assert street not in inn["formatted_address"]
    wrong = await rafael.whole(
        "expedia", lambda t: t["hotel"]["hotel_name"] == "Cedar River Suites"
    )
    gone = await rafael.mail(
        "personal", "Austin MN cancelled 226.00", "Cancelled: Cedar River Suites"
    )
    assert wrong["booking_status"] == "cancelled" and "Austin, MN" in wrong["hotel"]["address"]
    assert f"{wrong['price']['total']:.2f}" in gone["body"]
    assert (
        rafael.day(wrong["cancelled_at"])
        == rafael.day(gone["created_at"])
        == rafael.day(stay["booked_at"])
    )
    saved = await rafael.one("weather_com.get_saved_locations", lambda s: s["label"] == "Austin")
    assert saved["location"]["state"] == "Minnesota"

    game = await rafael.event("google_calendar", "First game, Onion Creek field 6")
    copy = await rafael.event("outlook_calendar", "First game, Onion Creek field 6 (copied)")
    plans = [
        m
        for m in await rafael.letters("team", "Jaguars field Saturday July", "tina_marsh")
        if "Jaguars" in m["body"]
    ]
    assert [rafael.local(e["at"]) for e in (game, copy)] == ["2026-07-11T08:40", "2026-07-11T09:30"]
    assert "at 9:30 on field 3" in plans[0]["body"] and "at 8:40 on field 6" in plans[-1]["body"]
    ours = await rafael.page("notion", "Austin tournament")
    theirs = await rafael.page("notion", "Game plan 11 and 12 July")
    assert "9:30, field 3" in ours["text"]
    assert "8:40, field 6" in theirs["text"]
    assert ours["updated_at"] < theirs["updated_at"]
    fee = await rafael.one("venmo.list_requests", lambda r: r["note"] == "Tournament fee, Ortega")
    words = "45 nine families missing"
    missing = await rafael.letter("team", words, "coach_reyes", "yours is missing")
    assert fee["contact"]["name"] == "Monica Reyes"
    assert fee["status"] == "pending"
    assert cents(fee["amount"]) * 14 == 63000
    assert "yours is missing" in missing["body"] and "630 a team" in ours["text"]
    van = await rafael.shares(16800, "Van to Austin")
    assert {(v["contact"]["name"], v["status"]) for v in van} == {
        ("Monica Reyes", "paid"),
        ("Lucia Ortega", "pending"),
        ("Karla Vega", "pending"),
    }
    trip = await rafael.event("google_calendar", "Jaguars in Austin")
    list_ = await rafael.whole("target", lambda o: o["total"] == 4960)
    assert "Leave at three" in trip["note"]
    assert "leave on Friday at three" in ours["text"]
    assert rafael.day(list_["expected_by"]) == "2026-07-06"


async def test_when_i_drive_to_dallas_where_i_sleep_with_whom_i_eat_and_how_hot_it_gets(
    rafael: Walk,
) -> None:
    show = await rafael.event("outlook_calendar", "Tile show in Dallas")
    copy = await rafael.event("google_calendar", "Tile show in Dallas (copied)")
    doors = [
        m["body"]
        for m in await rafael.letters("work", "Doors badges", "badges@trinitytileshow.com")
    ]
    assert rafael.local(show["at"]) == "2026-06-24T10:00"
    assert rafael.local(copy["at"]) == "2026-06-24T09:00"
    assert "24 June at 9:00" in doors[0] and "10:00 on both days, not at 9:00" in doors[1]
    stay = await rafael.whole(
        "expedia",
        lambda t: t["check_in_date"] == "2026-06-24" and t["booking_status"] == "confirmed",
    )
    mail = await rafael.mail("work", "Hotel Akard", "Confirmed: Hotel Akard")
    card = await rafael.one(
        "expedia.list_saved_cards", lambda c: c["payment_method_id"] == stay["payment_method_id"]
    )
    assert f"{stay['price']['total']:.2f}, Mastercard ending in {card['last4']}" in mail["body"]
    assert stay["hotel"]["hotel_name"] in mail["body"]
    assert stay["hotel"]["address"].split(",")[0] in mail["body"]
    assert rafael.day(stay["free_cancellation_before"]) == "2026-06-22"
    far = await rafael.whole("booking", lambda b: b["property_name"] == "Market Center Lodge")
    gone = await rafael.mail("work", "Market Center Lodge", "Cancelled: Market Center Lodge")
    assert far["booking_status"] == "cancelled" and f"{far['total_price']:.2f}" in gone["body"]
    assert (
        rafael.day(far["cancelled_at"])
        == rafael.day(stay["created_at"])
        == rafael.day(gone["created_at"])
    )
    dinner = await rafael.event("outlook_calendar", "Dinner with Pete in Dallas")
    asked = (await rafael.letters("work", "Trinity Chop House", "pete_alvarado"))[0]
    assert rafael.local(dinner["at"]) == "2026-06-24T19:00"
    assert "24 June at 19:00" in asked["body"]
    assert "Trinity Chop House" in dinner["where"]
    ride = await rafael.ride("lyft", "2026-06-25T08:15")
    assert ride["from"].startswith(stay["hotel"]["hotel_name"])
    assert ride["to"].split(",")[0] == show["where"].split(",")[0]
    page = await rafael.page("confluence", "Dallas show list")
    assert "opens at 10:00" in page["text"]
    assert "leave at 4:30" in page["text"]
    assert "4:30" in show["note"]
    saved = await rafael.one(
        "weather_com.get_saved_locations", lambda s: s["label"] == "Dallas show"
    )
    reply = await rafael.call_ok(
        "weather_com.get_daily_forecast", location=saved["location"]["location_id"], days=7
    )
    days = reply["days"]
    assert {"2026-06-24", "2026-06-25"} <= {d["date"] for d in days if d["temp_max"] > 80}


async def test_what_the_newmans_have_paid_what_comes_on_monday_and_where_the_niche_belongs(
    rafael: Walk,
) -> None:
    first = await rafael.one(
        "zelle.list_transfers",
        lambda t: t["contact"]["name"] == "Dana Newman" and t["type"] == "transfer_received",
    )
    start = await rafael.event("outlook_calendar", "Newman kitchen, first day")
    copy = await rafael.event("google_calendar", "Newman kitchen, first day (copied)")
    assert [rafael.day(e["at"]) for e in (start, copy)] == ["2026-05-04", "2026-04-27"]
    told = await rafael.letters("work", "2,800 Zelle May", "dana_newman")
    assert "Monday 4 May instead of 27 April" in told[0]["body"]
    assert rafael.day(first["created_at"]) == rafael.day(start["at"])
    bank = await rafael.one(
        "zelle.list_enrolled_banks", lambda b: b["last4"] == first["bank"]["last4"]
    )
    assert cents(first["amount"]) * 3 == 840000 and "Business" in bank["name"]
    page = await rafael.page("confluence", "Newman kitchen")
    assert "8,400 in three parts of 2,800" in page["text"]
    assert "Monday 4 May" in page["text"]
    assert "276.00 credited" in page["text"]
    due = await rafael.event("outlook_calendar", "Newman kitchen, second part 2,800")
    latest = (await rafael.letters("work", "second 2,800 niche last part", "dana_newman"))[-1]
    assert rafael.day(due["at"]) == "2026-06-22"
    assert "Monday 22 June" in latest["body"]
    assert "140 for the niche on the last part" in latest["body"]
    niche = await rafael.one(
        "zelle.list_transfer_requests", lambda r: r["note"] == "Niche by the stove"
    )
    assert (niche["status"], cents(niche["amount"])) == ("cancelled", 14000)
    assert niche["closed_at"] > latest["created_at"]
    bill = await rafael.letter(
        "work", "14 boxes bone 1,288.00", "pete_alvarado", "1,288.00 on your"
    )
    assert cents(14 * 92) == 128800
    assert "1,288.00 on your Mastercard" in bill["body"]
    mistake = await rafael.letter(
        "work", "sand broken boxes credit", "pete_alvarado", "broken boxes"
    )
    assert cents(3 * 92) == 27600
    assert "276.00" in mistake["body"]
    more = await rafael.one(
        "zelle.list_scheduled_payments",
        lambda s: s["contact"]["name"] == "Pete Alvarado" and s["status"] == "scheduled",
    )
    assert cents(more["amount"]) == 128800
    assert more["next_date"] == "2026-06-29" < "2026-07-01"
    assert "on 1 July a box is 99" in mistake["body"]
    tile = await rafael.event("outlook_calendar", "Order tile before the price goes up")
    assert "92 a box until today, 99 from 1 July" in tile["note"]
    assert rafael.day(tile["at"]) == "2026-06-30"


async def test_what_the_insurance_costs_which_request_is_stale_and_when_it_must_be_paid(
    rafael: Walk,
) -> None:
    letters = [
        m for m in await rafael.letters("work", "2,184", "ray_kessler") if "2,184" in m["body"]
    ]
    assert "2,184 for the year" in letters[0]["body"]
    assert "2,340, not 2,184" in letters[1]["body"]
    assert "still says 2,184" in letters[2]["body"]
    asked = await rafael.one(
        "zelle.list_transfer_requests",
        lambda r: r["contact"]["name"] == "Ray Kessler" and r["status"] == "pending",
    )
    assert cents(asked["amount"]) == 218400
    assert letters[0]["created_at"] < asked["created_at"] < letters[1]["created_at"]
    event = await rafael.event("outlook_calendar", "Liability insurance renews")
    copy = await rafael.event("google_calendar", "Liability insurance renews (copied)")
    assert [rafael.local(e["at"]) for e in (event, copy)] == [
        "2026-06-30T10:00",
        "2026-07-01T10:00",
    ]
    page = await rafael.page("confluence", "Insurance")
    assert "2,340 and not 2,184" in page["text"]
    assert "Tuesday 30 June at ten" in page["text"]
    assert page["updated_at"] > letters[1]["created_at"]
    phish = next(
        m
        for m in await rafael.mails("work", "2,340 policy bank changed")
        if m["from_name"] == "Ray Kessler"
    )
    assert phish["from"] != rafael.person["people"]["ray_kessler"]["email"]
    office = await rafael.one(
        "google_map_review.search_places", lambda p: "Kessler" in p["name"], query="Kessler"
    )
    assert event["where"].split(",")[1].strip() in office["formatted_address"]


async def test_on_which_day_our_anniversary_was_what_it_cost_and_what_i_wrote(rafael: Walk) -> None:
    dinner = await rafael.event("google_calendar", "Anniversary with Lucia at Carmela's")
    copy = await rafael.event("outlook_calendar", "Anniversary with Lucia at Carmela's (copied)")
    assert [rafael.local(e["at"]) for e in (dinner, copy)] == [
        "2026-05-28T19:30",
        "2026-05-23T19:30",
    ]
    table = {
        m["subject"]: m["body"]
        for m in await rafael.letters("personal", "Carmela's", "table@carmelas-sa.com")
    }
    assert "Saturday 23 May at 19:30" in table["Your table"]
    assert "Thursday 28 May at 19:30" in table["Your table, changed"]
    shifts = [
        m["body"] for m in await rafael.letters("personal", "Carmela's asked", "lucia_ortega")
    ]
    assert "Tuesday 26 May" in shifts[0]
    assert "Thursday the 28th" in shifts[1]
    assert "lucia.ortega@gmail.com" in dinner["guests"]
    assert "118.90 with tip, on the Visa ending in 6127" in table["Thank you for coming"]
    ride = await rafael.ride("uber", "2026-05-28T19:05")
    assert "4902 Broadway" in ride["to"]
    assert "4902 Broadway" in dinner["where"]
    assert cents(ride["fare"]) == 1130
    review = await rafael.my_review("google_map_review", "Carmela's")
    assert review["rating"] == 5
    assert review["day"] == "2026-05-30"
    assert "moved our table three times" in review["text"]
    assert "4902 Broadway" in review["place"]["formatted_address"]
    playlist = await rafael.playlist("Dieciocho años")
    assert await rafael.played_on(playlist, rafael.day(dinner["at"]))


async def test_what_i_owe_the_business_for_groceries_and_what_came_back_for_the_kids_things(
    rafael: Walk,
) -> None:
    food = await rafael.whole("instacart", lambda o: o["total"] == 8612)
    asked = (await rafael.letters("work", "86.12 groceries", "karla_vega"))[0]
    page = await rafael.page("confluence", "Two accounts that do not mix")
    assert food["payment"]["last_four"] == rafael.person["cards"]["mastercard"]["last4"]
    assert rafael.day(food["created_at"]) == "2026-06-09"
    assert "86.12 of groceries on 9 June" in asked["body"]
    assert "86.12 of groceries on 9 June" in page["text"]
    back = [t for t in await rafael.payments("zelle") if cents(t["amount"]) == 8612]
    assert not back and food["store_name"] == "Alamo Fresh, Blanco Road"
    shoes = await rafael.whole("target", lambda o: o["total"] == 5798)
    returned = await rafael.one(
        "target.list_my_returns", lambda r: r["order_id"] == shoes["order_id"]
    )
    wish = (await rafael.letters("personal", "shin guards babies", "sofia_ortega"))[0]
    assert shoes["refunded"] == returned["refund_amount"] == 1499
    assert rafael.day(shoes["completed_at"]) == rafael.day(wish["created_at"])
    drone = await rafael.whole("amazon", lambda o: o["total"] == 7248)
    pizza = await rafael.whole(
        "uber_eats",
        lambda o: (
            rafael.day(o["created_at"]) == "2026-03-14"
            and o["restaurant_name"] == "Woodlawn Pizza Garage"
        ),
    )
    party = await rafael.event("google_calendar", "Diego is 7")
    assert drone["pricing"]["refunded"] == 5499
    assert cents(pizza["refund"]["amount"]) == 1600
    assert "missing" in pizza["refund"]["reason"]
    assert rafael.day(drone["delivered_at"]) < rafael.day(party["at"]) == "2026-03-14"
    assert party["at"] < pizza["created_at"] < party["end"]
    cake = await rafael.one("venmo.list_transactions", lambda t: t["note"] == "Dinosaur cake")
    assert cake["contact"]["name"] == "Berta Salinas"
    assert cents(cake["amount"]) == 9000
    assert "Cake from Berta 90" in party["note"]


async def test_why_the_crew_got_salads_and_which_hermano_is_the_good_one(rafael: Walk) -> None:
    order = await rafael.whole("doordash", lambda o: rafael.day(o["created_at"]) == "2026-06-12")
    mine = await rafael.my_review("yelp", order["restaurant_name"])
    assert cents(order["total"]) == 5270
    assert cents(order["refund"]["amount"]) == 3820
    assert order["payment"]["last4"] == "7730"
    assert "somebody else's" in order["refund"]["reason"]
    assert "somebody else's lunch" in mine["text"]
    assert mine["rating"] == 2
    others = await rafael.all(
        "yelp.get_reviews_for_business", business_id=mine["place"]["business_id"]
    )
    assert max(r["rating"] for r in others if not r["is_mine"]) > mine["rating"]
    assert mine["day"] == "2026-06-13"
    branches = [
        b
        for b in await rafael.all("yelp.search_businesses", query="Taco Hermano")
        if b["name"].startswith("Taco Hermano")
    ]
    assert len({b["address"] for b in branches}) == 3
    assert any("Blanco" in b["address"] for b in branches)
    tacos = await rafael.one(
        "venmo.get_debit_card_transactions", lambda p: rafael.day(p["at"]) == "2026-06-19"
    )
    assert cents(tacos["amount"]) == 1420 and tacos["merchant"].startswith("Taco Hermano")
    hours = await rafael.event("outlook_calendar", "Summer hours, six to two")
    copy = await rafael.event("google_calendar", "Summer hours, six to two (copied)")
    assert [rafael.local(e["at"]) for e in (hours, copy)] == [
        "2026-06-15T06:00",
        "2026-06-15T07:00",
    ]
    page = await rafael.page("confluence", "Crew schedule")
    assert "seven to four" in page["text"] and page["updated_at"] < hours["made"]
    alert = (await rafael.all("weather_com.get_alerts", location="San Antonio, Texas"))[0]
    practice = await rafael.event("google_calendar", "Practice for Austin")
    late = (await rafael.letters("team", "Too hot half past seven", "coach_reyes"))[0]
    assert alert["event"] == "Heat Advisory"
    assert alert["start_time"] < "2026-06-19T18:00" < alert["end_time"]
    assert rafael.local(practice["at"]) == "2026-06-19T19:30" and "Friday 19 June" in late["body"]


async def test_where_the_saved_money_comes_from_and_what_matias_and_gabe_still_owe(
    rafael: Walk,
) -> None:
    sep = await rafael.one("fidelity.list_transfers", lambda t: cents(t["amount"]) == 200000)
    page = await rafael.page("notion", "College for Mateo")
    college = [
        c
        for c in await rafael.all("vanguard.list_contributions", "contributions")
        if cents(c["amount"]) == 15000
    ]
    banks = {b["last4"]: b["name"] for b in await rafael.all("zelle.list_enrolled_banks")}
    assert sep["tax_year"] == 2025
    assert rafael.day(sep["requested_at"]) == "2026-04-14"
    assert banks[sep["bank"][-4:]] in sep["bank"]
    assert {rafael.day(c["made_at"])[8:] for c in college} == {"01"}
    assert "150 each first of the month at Vanguard" in page["text"]
    reply = await rafael.call_ok("robinhood.get_account")
    assert {banks[c["bank"][-4:]] for c in college} == {reply["linked_bank"]["name"]}
    loan = await rafael.one(
        "zelle.list_transfers",
        lambda t: t["contact"]["name"] == "Matias Ortega" and t["note"] == "Until payday",
    )
    asked = await rafael.one(
        "zelle.list_transfer_requests", lambda r: r["contact"]["name"] == "Matias Ortega"
    )
    thanks = (await rafael.letters("personal", "300 primo May", "matias_ortega"))[0]
    assert cents(loan["amount"]) == cents(asked["amount"]) == 30000
    assert asked["status"] == "pending"
    assert loan["created_at"] < thanks["created_at"]
    owed = await rafael.page("notion", "Who owes whom")
    assert "Matias: still 300" in owed["text"] and "Gabe: the saw" in owed["text"]
    blade = await rafael.one(
        "venmo.list_transactions",
        lambda t: (
            t["contact"] and t["contact"]["name"] == "Gabe Torres" and t["note"] == "New blade"
        ),
    )
    again = await rafael.one("venmo.list_requests", lambda r: r["note"] == "The second blade")
    sent = await rafael.letter("personal", "40 blade", "gabe_torres", "I sent you 40 for the blade")
    assert cents(blade["amount"]) == cents(again["amount"]) == 4000
    assert again["status"] == "pending"
    assert blade["created_at"] < sent["created_at"]
    fourth = await rafael.event("google_calendar", "Fourth of July in the yard")
    assert "Gabe brings back the wet saw" in fourth["note"]
    assert "gabe.torres@gmail.com" in fourth["guests"]
    tools = await rafael.page("confluence", "Where the tools are")
    assert "wet saw two: with Gabe" in tools["text"]


async def test_where_we_slept_at_the_wedding_where_pete_waited_and_which_restaurants_have_gone(
    rafael: Walk,
) -> None:
    stay = await rafael.whole("expedia", lambda t: t["hotel"]["hotel_name"] == "Posada San Agustín")
    mail = await rafael.mail(
        "personal", "Posada San Agustín Laredo", "Confirmed: Posada San Agustín"
    )
    other = await rafael.whole(
        "booking",
        lambda b: b["property_name"] == "San Agustín Inn" and b["check_in_date"] == "2026-04-24",
    )
    gone = await rafael.mail("personal", "San Agustín Inn", "Cancelled: San Agustín Inn")
    assert f"{stay['price']['total']:.2f}" in mail["body"]
    assert stay["booking_status"] == "completed"
    assert stay["hotel"]["address"].split(",")[0] in mail["body"]
    assert f"{other['total_price']:.2f}" in gone["body"]
    assert other["booking_status"] == "cancelled"
    assert other["address"].split(",")[0] in gone["body"]
    ride = await rafael.ride("uber", "2026-04-25T16:30")
    trip = await rafael.event("google_calendar", "Wedding in Laredo")
    assert ride["from"].startswith("Posada San Agustín")
    assert rafael.day(trip["at"]) == stay["check_in_date"] == "2026-04-24"
    written = [
        await rafael.my_review(site, "Posada San Agustín") for site in ("yelp", "google_map_review")
    ]
    assert {(r["rating"], r["day"]) for r in written} == {(4, "2026-04-28")}
    assert "nearly the same name" in written[0]["text"]

    breakfast = await rafael.event("outlook_calendar", "Breakfast with Pete, La Reina")
    paid = await rafael.one(
        "venmo.get_debit_card_transactions",
        lambda p: p["merchant"] == "La Reina Café" and rafael.day(p["at"]) == "2026-06-05",
    )
    lost = (await rafael.letters("work", "La Reyna two coffees", "pete_alvarado"))[0]
    namesake = await rafael.one(
        "yelp.search_businesses", lambda b: "Reyna" in b["name"], query="Reyna"
    )
    assert "Blanco Road" in breakfast["where"]
    assert "Fredericksburg" in lost["body"]
    assert "Fredericksburg" in namesake["address"]
    assert cents(paid["amount"]) == 2760
    assert breakfast["at"] < lost["created_at"] < paid["at"] < breakfast["end"]

    closed = await rafael.one(
        "yelp.search_businesses",
        lambda b: b["name"] == "Patio San Pedro",
        query="Patio San Pedro",
        include_closed=True,
    )
    before = await rafael.my_review("google_map_review", "Patio San Pedro")
    after = await rafael.my_review("yelp", "Patio San Pedro")
    assert closed["is_closed"]
    assert (before["rating"], after["rating"]) == (3, 2)
    assert before["day"] < "2026-05-31" < after["day"]
    assert after["text"].startswith("Closed since the end of May")
    anclas = await rafael.all(
        "yelp.search_businesses", query="Mariscos El Ancla", include_closed=True
    )
    new = next(b for b in anclas if "2718 Culebra Road" in b["address"])
    old = next(b for b in anclas if "1903 West Commerce Street" in b["address"])
    moved = (await rafael.call_ok("yelp.get_business", business_id=old["business_id"]))["moved_to"]
    lunch = await rafael.event("google_calendar", "El Ancla, the new address")
    note = await rafael.mail("personal", "Mariscos El Ancla 131.75", "Su cuenta")
    assert moved == new["business_id"]
    assert not new["is_closed"]
    assert "2718 Culebra Road" in lunch["where"]
    assert "2718 Culebra Road" in note["body"]
    card = await rafael.one(
        "venmo.get_debit_card_transactions",
        lambda p: p["merchant"] == "Mariscos El Ancla" and rafael.day(p["at"]) == "2026-02-22",
    )
    assert cents(card["amount"]) == 7430 and lunch["at"] < card["at"] <= lunch["end"]
