"""What Uber and Lyft share about an account: tables, wallets, saved places and promotions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from servers.kit.fields import card_expired
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars
from servers.ridesharing import _roads as roads
from servers.ridesharing._roads import Mode, Spot

PROFILE = Table(
    "id:str name:str email:str phone:str timezone:str city_id:str", identity=True, catalogue=True
)
SAVED = Table(
    "id:str label:str/matter address:str/matter lat:float/matter lng:float/matter "
    "saved_at:str/stamp",
    noun="the saved place {label}",
)
WALLET = Table(
    "id:str kind:str name:str last4:str? expires:str? is_default:bool added_at:str",
    catalogue=True,
)
DRIVERS = Table(
    "id:str name:str rating:float rides:int vehicle:str colour:str plate:str skills:list "
    "city_id:str",
    index=("city_id",),
    catalogue=True,
)
# An offer takes `percent` or `amount` off, at most `most`. If `first` is set, the offer is only for
# that many first rides (of its `modes`, if it names any).
OFFERS = Table(
    "id:str code:str/matter title:str/matter percent:int?/matter amount:int?/matter "
    "most:int?/matter minimum:int/matter first:int?/matter modes:list/matter "
    "starts_at:str/appointed expires_at:str/appointed applied_at:str?/stamp",
    index=("starts_at", "expires_at"),
    noun="the offer {code}",
)


def _label(text: str) -> str:
    if not text.strip():
        raise ValueError("must hold more than spaces")
    return " ".join(text.split())


PlaceLabel = Annotated[
    str,
    Field(min_length=1, max_length=40, description="Label of the saved place, e.g. Home."),
    AfterValidator(_label),
]
FullAddress = Annotated[
    str, Field(min_length=5, max_length=160, description="Street address with city, as one line.")
]
PaymentId = Annotated[
    str,
    Field(
        description="payment_method_id from the list of payment methods; "
        "omit it to use the default one."
    ),
]
Stars = Annotated[int, Field(ge=1, le=5, description="Stars from 1 (worst) to 5 (best).")]


@dataclass(frozen=True)
class Words:
    """A provider's names: its table prefix, a code, and the tools that hints point to."""

    name: str
    ride_missing: str
    find: str
    rides: str
    payments: str
    offers: str
    estimate: str


# -- the account -----------------------------------------------------------------------------------
def profile(svc: Service, words: Words) -> Row:
    """Return the signed-in rider's row."""
    return svc.db.rows(f"{words.name}_profile")[0]


def saved(svc: Service, words: Words) -> list[Row]:
    """Return the rows of saved places, in the order they were saved."""
    return svc.db.rows(f"{words.name}_saved_places", order="saved_at, rowid")


def spot(svc: Service, words: Words, text: str) -> Spot:
    """Return the one place that a text refers to, or refuse."""
    return roads.resolve(svc, saved(svc, words), text, words.find)


def places(svc: Service, words: Words, query: str) -> list[Row]:
    """Return known places that match words; what the rider calls so comes first."""
    return roads.places_for(svc, saved(svc, words), query)


def wallet(svc: Service, words: Words) -> list[Row]:
    """Return payment methods, the default one first."""
    return svc.db.rows(f"{words.name}_wallet", order="is_default DESC, added_at, rowid")


def payer(svc: Service, words: Words, card_id: str | None) -> dict[str, Any]:
    """Return the named payment method, or the default one; refuse one that cannot be charged."""
    cards = wallet(svc, words)
    if card_id is None:
        chosen = cards[0]
    else:
        chosen = next((c for c in cards if c["id"] == card_id), None)
    if chosen is None:
        message = f"There is no payment method with the ID {card_id!r}."
        hint = f"Use a payment_method_id from {words.payments}."
        svc.fail("PAYMENT_METHOD_NOT_FOUND", message, hint, payment_method_id=card_id)
    if card_expired(chosen["expires"], svc.time):
        message = f"{chosen['name']} (…{chosen['last4']}) expired in {chosen['expires']}."
        hint = f"Choose another payment method from {words.payments}."
        svc.fail("PAYMENT_METHOD_EXPIRED", message, hint, payment_method_id=chosen["id"])
    return chosen


def card_json(svc: Service, card: Row) -> Json:
    """Return a payment method as the agent sees it."""
    return {
        "payment_method_id": card["id"],
        "type": card["kind"],
        "name": card["name"],
        "last4": card["last4"],
        "expires": card["expires"],
        "expired": card_expired(card["expires"], svc.time),
        "is_default": card["is_default"],
    }


def card_ref(svc: Service, words: Words, card_id: str) -> Json:
    """Return `{payment_method_id, name, last4}` of the payment method of a ride."""
    card = svc.db.get(f"{words.name}_wallet", card_id) or {}
    return {"payment_method_id": card_id, "name": card["name"], "last4": card["last4"]}


# -- promotions ------------------------------------------------------------------------------------
def used_by(svc: Service, words: Words, offer_id: str) -> Row | None:
    """Return the ride that used an offer, unless that ride was cancelled."""
    rows = svc.db.rows(
        f"{words.name}_rides", "offer_id=? AND cancelled_at IS NULL", offer_id, limit=1
    )
    return rows[0] if rows else None


def offer_state(svc: Service, words: Words, offer: Row) -> str:
    """Return used, expired, upcoming, ineligible, applied or available.

    An offer for first rides is ineligible once the rider has taken that many.
    """
    if used_by(svc, words, offer["id"]):
        return "used"
    if svc.time >= offer["expires_at"]:
        return "expired"
    if svc.time < offer["starts_at"]:
        return "upcoming"
    first = offer["first"]
    if first is not None and taken(svc, words, offer, first) >= first:
        return "ineligible"
    return "applied" if offer["applied_at"] else "available"


def taken(svc: Service, words: Words, offer: Row, most: int = -1) -> int:
    """Return how many completed rides count towards the limit of an offer for first rides.

    Counting stops at `most`, unless that is negative.
    """
    marks = ",".join("?" * len(offer["modes"])) or "mode_id"
    query = (
        f"SELECT count(*) FROM (SELECT 1 FROM {words.name}_rides "
        f"WHERE cancelled_at IS NULL AND ends_at<=? AND mode_id IN ({marks}) LIMIT ?)"
    )
    return svc.db.sql(query, svc.time, *offer["modes"], most)[0][0]


def apply_offer(svc: Service, words: Words, offer_id: str) -> dict[str, Any]:
    """Apply an offer to the next eligible ride, in place of any other, and return its row."""
    table = f"{words.name}_offers"
    offer = svc.db.get(table, offer_id)
    if offer is None:
        message = f"There is no offer with the ID {offer_id!r}."
        hint = f"Use an offer_id from {words.offers}."
        svc.fail("OFFER_NOT_FOUND", message, hint, offer_id=offer_id)
    state = offer_state(svc, words, offer)
    if state in ("used", "expired", "upcoming"):
        code = "OFFER_NOT_STARTED" if state == "upcoming" else f"OFFER_{state.upper()}"
        hint = f"{words.offers} shows which offers can be used now."
        span = {"starts_at": offer["starts_at"], "expires_at": offer["expires_at"]}
        svc.fail(code, f"{offer['code']} is {state}.", hint, **span)
    if state == "ineligible":
        message = f"{offer['code']} is only for the first {offer['first']} rides of its ride types."
        hint = f"{words.offers} shows other offers."
        rides = taken(svc, words, offer)
        svc.fail("OFFER_NOT_ELIGIBLE", message, hint, rides_taken=rides, ride_types=offer["modes"])
    for other in svc.db.rows(table, "applied_at IS NOT NULL AND id<>?", offer_id):
        svc.db.update(table, other["id"], applied_at=None)
    if not offer["applied_at"]:
        svc.db.update(table, offer_id, applied_at=svc.time)
    return svc.db.get(table, offer_id) or {}


def applied(svc: Service, words: Words) -> dict[str, Any] | None:
    """Return the offer that is applied to the next eligible ride, if there is one."""
    rows = svc.db.rows(
        f"{words.name}_offers", "applied_at IS NOT NULL", order="applied_at DESC, rowid"
    )
    return next((r for r in rows if offer_state(svc, words, r) == "applied"), None)


def fits(offer: Row, mode: Mode, fare: int) -> bool:
    """Return whether an offer can be used for a ride of this mode and fare."""
    return fare >= offer["minimum"] and (not offer["modes"] or mode.id in offer["modes"])


def off(offer: Row | None, fare: int) -> int:
    """Return the cents that an offer takes off a fare."""
    if offer is None:
        return 0
    cut = offer["amount"]
    if cut is None:
        cut = (fare * offer["percent"] + 50) // 100
    if offer["most"] is not None:
        cut = min(cut, offer["most"])
    return min(fare, cut)


def terms(offer: Row) -> Json:
    """Return the terms of an offer, in dollars and per cent."""
    return {
        "percent_off": offer["percent"],
        "amount_off": None if offer["amount"] is None else dollars(offer["amount"]),
        "max_discount": None if offer["most"] is None else dollars(offer["most"]),
        "min_fare": dollars(offer["minimum"]),
        "first_rides": offer["first"],
        "ride_types": offer["modes"],
        "combinable": False,
    }
