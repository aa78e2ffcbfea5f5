"""What Uber and Lyft have mailed about past rides and packages, and will about those to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servers.kit.values import cents, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing.lyft import _model as lyft
from servers.ridesharing.uber import _model as uber
from servers.ridesharing.uber.parcels import of_package

if TYPE_CHECKING:
    from scenarios.worlds.fill.ridesharing.ridesharing import Provider

CONFIRMED = {"uber": "reserved", "lyft": "scheduled"}
CANCELLED = {"uber": "trip_canceled", "lyft": "ride_canceled"}
BY = {
    "rider": "you",
    "driver": "the driver",
    "no_show": "the driver, because nobody came to the pickup",
}


class Mail:
    """The mail of one provider to the person."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.builder = provider.builder
        self.to = provider.builder.person["emails"]["personal"]

    def send(
        self,
        at: int,
        occasion: str,
        said: dict[str, Any],
        *,
        about: str = "",
        due: int | None = None,
        key: str = "",
    ) -> None:
        """Post something at a moment; `about` is the ride unless it is given."""
        name = self.provider.name
        about = about or said["reference"]
        self.builder.posted(at, name, occasion, self.to, said, about=about, due=due, key=key)

    def ride(
        self,
        seed: dict[str, Any],
        row: dict[str, Any],
        after: list[tuple[int, dict[str, Any]]],
        route: roads.Route,
    ) -> None:
        """Post what came of a ride; `after` are the changes of its row, with their moments."""
        said = self._of_ride(row, route)
        asked = parse_time(row["requested_at"])
        final = dict(row)
        for _, changes in after:
            final |= changes
        gone = parse_time(final["cancelled_at"]) if final.get("cancelled_at") else None
        if row["scheduled_for"]:
            self.send(asked, CONFIRMED[self.provider.name], said)
            remind = mail.remind_at(row)
            if remind is not None and remind > asked and (gone is None or remind < gone):
                self.send(asked, "reminder", said, due=remind)
        if gone is not None:
            by = BY[final["cancelled_by"]]
            cancelled = {"canceled_at": final["cancelled_at"], "canceled_by": by}
            fee = {"fee": final["cancel_fee"]}
            self.send(gone, CANCELLED[self.provider.name], said | cancelled | fee)
            return
        self.send(asked, "receipt", said, due=parse_time(row["ends_at"]))
        total = said["total"]
        if final["tip"]:
            total += final["tip"]
            tipped = {"tip": final["tip"], "more": final["tip"], "total": total}
            self.send(parse_time(final["tipped_at"]), "tip_added", said | tipped)
        for days, dollars, reason in seed.get("adjusted", []):
            amount = cents(dollars)
            total += amount
            at = parse_time(row["ends_at"]) + int(days * trips.DAY)
            refund = -amount if amount < 0 else None
            charge = amount if amount > 0 else None
            change = {"reason": reason, "refund": refund, "charge": charge, "total": total}
            key = f"{self.provider.name} fare_adjusted {row['id']} {days}"
            self.send(at, "fare_adjusted", said | change, key=key)

    def _of_ride(self, row: dict[str, Any], route: roads.Route) -> dict[str, Any]:
        kept = self.provider.rows
        offer = kept["offers"][row["offer_id"]] if row["offer_id"] else None
        cut = rules.off(offer, row["fare"])
        driver = kept["drivers"][row["driver_id"]]
        card = kept["wallet"][row["card_id"]]
        if self.provider.name == "uber":
            return uber.of_ride(row, route, driver, card, cut)
        given = 0
        if lyft.on_at(self._switches(), row["ends_at"]):
            given = lyft.to_next_dollar(row["fare"] - cut)
        return lyft.of_ride(row, route, driver, card, cut, given)

    def _switches(self) -> list[lyft.Switch]:
        return [lyft.Switch(at, enabled) for at, enabled in self.provider.switches()]

    def split(self, row: dict[str, Any], at: int, invitations: list[dict[str, Any]]) -> None:
        """Post that contacts were invited to share a fare, and what they answered."""
        kept = self.provider.rows
        city = self.provider.town.cities[row["city_id"]]
        route = roads.route(city, uber.points(row), parse_time(row["priced_at"]))
        said = self._of_ride(row, route)
        said["each"] = said["total"] // (len(invitations) + 1)
        names = []
        for invitation in invitations:
            name = kept["contacts"][invitation["contact_id"]]["name"]
            names.append(name)
            answers_at = uber.answered_at(invitation)
            if answers_at is not None:
                reply = f"split_{uber.answer(invitation, answers_at)}"
                told = said | {"name": name}
                self.send(at, reply, told, about=invitation["id"], due=answers_at)
        self.send(at, "split_sent", said | {"names": names}, about=invitations[0]["id"])

    def parcel(self, row: dict[str, Any], route: roads.Route) -> None:
        """Post that a package was on its way, and where it came to."""
        kept = self.provider.rows
        driver = kept["drivers"][row["driver_id"]]
        said = of_package(row, route, driver, kept["wallet"][row["card_id"]])
        at = parse_time(row["requested_at"])
        self.send(at, "package_requested", said)
        if row.get("cancelled_at"):
            gone = parse_time(row["cancelled_at"])
            self.send(gone, "package_canceled", said | {"fee": row["cancel_fee"]})
        elif row.get("returned_at"):
            self.send(at, "package_returned", said, due=parse_time(row["returned_at"]))
        else:
            self.send(at, "package_delivered", said, due=parse_time(row["ends_at"]))
