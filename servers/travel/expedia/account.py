"""The account: profile, saved travelers, cards, and insurance for upcoming stays."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName, Phone
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel.expedia._model import WORDS, insurance
from servers.travel.expedia._plans import PLANS, payout, premium, premium_back, refundable_until
from servers.travel.expedia.hotels import BOOKED

PlanId = Annotated[str, Field(description="plan_id from get_insurance_options.")]
TravelerName = Annotated[
    str, Field(min_length=1, max_length=120, description="Name of the traveler, in any case.")
]
MADE = "${made.booking_id}"
INSURED = Setup("add_insurance", {"booking_id": MADE, "plan_id": "plan_cancel"})


class Account(Service):
    """Profile, travelers, cards and insurance."""

    @reads()
    def get_traveler_profile(self) -> Json:
        """Return the account holder, saved travelers, and payment_method, the default card."""
        me = stays.account(self, WORDS)
        card = stays.paying_card(self, WORDS)
        travelers = self.db.rows("expedia_travelers", order="name, id")
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "time_zone": me["timezone"],
            "saved_travelers": [self._person(traveler) for traveler in travelers],
            "payment_method": None if card is None else stays.card_json(self, card),
        }

    def _person(self, row: Row) -> Json:
        return {
            "name": row["name"],
            "email": row["email"],
            "phone": row["phone"],
            "added_at": row["added_at"],
        }

    @reads()
    def list_saved_cards(self) -> Json:
        """Return the saved cards with brand, last four digits and expiry (YYYY-MM).

        Expired cards are refused.
        """
        return {"cards": [stays.card_json(self, c) for c in stays.cards(self, WORDS)]}

    @writes(example={"name": "Kai Tanaka", "email": "kai.tanaka@gmail.com"})
    def add_saved_traveler(
        self, name: PersonName, email: Email | None = None, phone: Phone | None = None
    ) -> Json:
        """Save a traveler for later itineraries. Names must be unique, ignoring case."""
        if self._saved(name) is not None:
            message = f"{name} is already saved."
            hint = "See get_traveler_profile; to replace the entry, remove it first."
            self.fail("TRAVELER_EXISTS", message, hint)
        row = {
            "id": self.new_id("xtv"),
            "name": " ".join(name.split()) or name,
            "email": email,
            "phone": phone,
            "added_at": self.time,
        }
        self.db.insert("expedia_travelers", row)
        return self._person(row) | {"status": "added"}

    @writes(example={"name": "Tom Lindqvist"}, idempotent=True)
    def remove_saved_traveler(self, name: TravelerName) -> Json:
        """Remove a saved traveler by name. Existing itineraries keep their traveler."""
        row = self._saved(name)
        if row is None:
            message = f"There is no saved traveler named {name!r}."
            names = [t["name"] for t in self.db.rows("expedia_travelers", order="name")]
            hint = f"Saved travelers: {', '.join(names)}." if names else "No travelers are saved."
            self.fail("TRAVELER_NOT_FOUND", message, hint, name=name)
        self.db.delete("expedia_travelers", row["id"])
        return {"name": row["name"], "status": "removed"}

    def _saved(self, name: str) -> dict[str, Any] | None:
        same = " ".join(name.lower().split())
        travelers = self.db.rows("expedia_travelers", order="id")
        return next((t for t in travelers if t["name"].lower() == same), None)

    # -- insurance ---------------------------------------------------------------------------------
    @reads(example={"booking_id": seeded("xit", "first")})
    def get_insurance_options(self, booking_id: rules.BookingId) -> Json:
        """Return insurance plans for an itinerary, with prices, and whether they can be bought."""
        row, hotel = bookings.find_booking(self, WORDS, booking_id)
        total = bookings.booked(WORDS, row, hotel).total
        ahead = bookings.status(self, row, hotel) == "confirmed"
        options = [
            {
                "plan_id": key,
                "name": plan.name,
                "coverage": plan.coverage,
                "price": dollars(premium(plan, total)),
            }
            for key, plan in PLANS.items()
        ]
        return {
            "booking_id": booking_id,
            "available": ahead and insurance(self, booking_id) is None,
            "plans": options,
        }

    @writes(example={"booking_id": MADE, "plan_id": "plan_cancel"}, setup=(BOOKED,))
    def add_insurance(self, booking_id: rules.BookingId, plan_id: PlanId) -> Json:
        """Insure an itinerary before check-in, at a premium based on its current total.

        An itinerary can have one plan. The premium is refundable for ten days.
        """
        row, hotel = self._ahead(booking_id)
        if plan_id not in PLANS:
            message = f"There is no plan {plan_id!r}."
            self.fail("PLAN_NOT_FOUND", message, "See get_insurance_options.", plan_id=plan_id)
        covered = insurance(self, booking_id)
        if covered is not None:
            message = f"Itinerary {booking_id} already has {PLANS[covered['plan_id']].name}."
            hint = "To change plans, call cancel_insurance first."
            self.fail("ALREADY_INSURED", message, hint, plan_id=covered["plan_id"])
        stays.usable_card(self, WORDS, row["card_id"])
        insured = {
            "id": self.new_id("xin"),
            "booking_id": booking_id,
            "plan_id": plan_id,
            "price": premium(PLANS[plan_id], bookings.booked(WORDS, row, hotel).total),
            "bought_at": self.time,
        }
        self.db.insert("expedia_insurance", insured)
        self._mail("insured", row, insured)
        return self._insured(insured, hotel, row) | {"status": "added"}

    @reads(example={"booking_id": MADE}, setup=(BOOKED, INSURED))
    def get_insurance_details(self, booking_id: rules.BookingId) -> Json:
        """Return an itinerary's plan: coverage, price, purchase time and refund deadline.

        `payout` is the amount paid when the itinerary was cancelled, or null if it was not.
        """
        row, hotel = bookings.find_booking(self, WORDS, booking_id)
        covered = self._covered(booking_id)
        paid = None
        if row["cancelled_at"] is not None:
            room = rules.find_room(self, WORDS, row["room_type_id"])
            charged = bookings.charged(WORDS, room, row, hotel)
            lost = charged - bookings.refund(self, WORDS, row, hotel)
            paid = dollars(payout(covered, lost))
        return self._insured(covered, hotel, row) | {"payout": paid}

    @writes(example={"booking_id": MADE}, setup=(BOOKED, INSURED), destructive=True)
    def cancel_insurance(self, booking_id: rules.BookingId) -> Json:
        """Cancel an itinerary's insurance before check-in.

        The premium is refunded within ten days of purchase and lost afterwards.
        """
        row, _ = self._ahead(booking_id)
        covered = self._covered(booking_id)
        self.db.update("expedia_insurance", covered["id"], cancelled_at=self.time)
        back = premium_back(self, covered)
        self._mail("uninsured", row, covered, back=back or None)
        return {
            "booking_id": booking_id,
            "plan_id": covered["plan_id"],
            "refunded": dollars(back),
            "status": "cancelled",
        }

    def _ahead(self, booking_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
        row, hotel = bookings.find_booking(self, WORDS, booking_id)
        status = bookings.status(self, row, hotel)
        if status != "confirmed":
            self.fail(
                "INSURANCE_UNAVAILABLE",
                f"Itinerary {booking_id} is {status}.",
                "Insurance can be bought or cancelled only before check-in.",
                booking_id=booking_id,
                status=status,
            )
        return row, hotel

    def _covered(self, booking_id: str) -> dict[str, Any]:
        row = insurance(self, booking_id)
        if row is None:
            message = f"Itinerary {booking_id} has no insurance."
            self.fail("NOT_INSURED", message, "See get_insurance_options.", booking_id=booking_id)
        return row

    def _mail(self, occasion: str, booking: Row, insured: Row, **more: Any) -> None:
        """Mail the account about the insurance of a stay."""
        plan = PLANS[insured["plan_id"]]
        said = {
            "plan": plan.name,
            "coverage": plan.coverage,
            "price": insured["price"],
            "refundable_until": refundable_until(insured),
        }
        mail.tell(self, WORDS, occasion, booking, said | more, about=insured["id"])

    def _insured(self, row: Row, hotel: Row, booking: Row) -> Json:
        plan = PLANS[row["plan_id"]]
        return {
            "booking_id": row["booking_id"],
            "plan_id": row["plan_id"],
            "plan_name": plan.name,
            "coverage": plan.coverage,
            "price": dollars(row["price"]),
            "bought_at": row["bought_at"],
            "refundable_until": min(refundable_until(row), iso(bookings.arrival(booking, hotel))),
        }
