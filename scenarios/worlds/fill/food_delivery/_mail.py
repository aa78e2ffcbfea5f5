"""What Uber Eats and DoorDash have mailed about past orders, and will about those to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.worlds.fill.food_delivery._catalogue import slug
from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _mail as mail
from servers.food_delivery._pricing import Price
from servers.food_delivery.uber_eats import _model as uber_eats
from servers.kit import posts
from servers.kit.values import cents, iso, parse_time

if TYPE_CHECKING:
    from scenarios.worlds.fill.food_delivery.food_delivery import Provider

CANCELLED = {"uber_eats": "canceled", "doordash": "cancelled"}


class Mail:
    """The mail of one provider to the person."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.builder = provider.builder
        self.to = provider.person["emails"][provider.own.get("email", "personal")]
        self.options: dict[str, str] = {}
        books = provider.books
        for key, group in books.menus["options"].items():
            for choice in group["choices"]:
                option_id = self.builder.id(books.prefix["option"], f"{key}/{slug(str(choice))}")
                self.options[option_id] = str(choice)
        self.written = set(self._written())

    def _written(self) -> list[str]:
        """Return the happenings about whose order the person's life has the provider's own mail."""
        address = posts.templates(self.provider.name).sender.partition("<")[2]
        told = []
        for happening in self.builder.life:
            single = [happening["mail"]] if "mail" in happening else []
            senders = [said.get("from", "") for said in happening.get("mails", single)]
            if any(address in sender for sender in senders):
                told.append(happening["key"])
        return told

    def send(self, at: int, occasion: str, said: dict[str, Any], due: int | None = None) -> None:
        """Post something about an order at a moment."""
        name = self.provider.name
        about = said["reference"]
        self.builder.posted(at, name, occasion, self.to, said, about=about, due=due)

    def order(
        self,
        seed: dict[str, Any],
        row: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        paid: Price,
    ) -> None:
        """Post what came of an order."""
        said = self._of_order(row, lines, place, paid)
        at = parse_time(row["placed_at"])
        expected = parse_time(row["delivered_at"]) - 60 * seed.get("late", 0)
        promised = {"expected_at": said["expected_at"] and iso(expected)}
        self.send(at, "ordered", said | promised)
        if "cancelled" in seed:
            self._cancelled(seed, row, said)
            return
        shown = said
        if self.provider.name == "uber_eats":
            shown = said | self._shopped(row, lines, place, paid)
        delivered = parse_time(row["delivered_at"])
        self.send(at, "delivered", shown, due=delivered)
        refunded = delivered + 3600
        told = seed.get("key") in self.written
        if seed.get("refunded") and refunded < self.builder.start and not told:
            refund = min(paid.total, cents(seed["refunded"]))
            reason = {"refund": refund, "reason": seed.get("problem")}
            self.send(refunded, "refunded", said | reason)

    def gift(
        self,
        seed: dict[str, Any],
        row: dict[str, Any],
        gift: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        paid: Price,
    ) -> None:
        """Post what came of a gift."""
        said = self._of_order(row, lines, place, paid) | mail.of_gift(gift)
        at = parse_time(row["placed_at"])
        self.send(at, "gift_sent", said)
        if "cancelled" in seed:
            self._cancelled(seed, row, said)
        elif gift["claims_at"] is None:
            self.send(at, "gift_expired", said, due=parse_time(gift["claim_by"]))
        else:
            self.send(at, "gift_claimed", said, due=parse_time(gift["claims_at"]))
            self.send(at, "gift_delivered", said, due=parse_time(row["delivered_at"]))

    def _cancelled(self, seed: dict[str, Any], row: dict[str, Any], said: dict[str, Any]) -> None:
        change = self.provider.cancellation(seed, row)
        cancelled = mail.of_cancellation(change, said["total"])
        at = parse_time(change["cancelled_at"])
        self.send(at, CANCELLED[self.provider.name], said | cancelled)

    def _of_order(
        self,
        row: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        paid: Price,
    ) -> dict[str, Any]:
        names = []
        for line in lines:
            names.append(mail.named(line, [self.options[option] for option in line["options"]]))
        row = {"window_start": None, "window_end": None} | row
        card = self.provider.cards[row["method_id"]]
        address = None
        for one in self.provider.addresses.values():
            if one["id"] == row["address_id"]:
                address = one
        return mail.of_order(row, lines, names, paid, place, card, address)

    def _shopped(
        self,
        row: dict[str, Any],
        lines: list[dict[str, Any]],
        place: dict[str, Any],
        paid: Price,
    ) -> dict[str, Any]:
        """Return what the shopper did not find; nobody had said what to take instead."""
        items = {}
        for sold in self.provider.books.items.values():
            items |= {item["id"]: item for item in sold}
        changes = []
        lost = 0
        for number, line in enumerate(lines):
            moment = uber_eats.picked_at(row, number, len(lines))
            is_there = catalogue.available(items[line["item_id"]], moment)
            if place["kind"] == "grocery" and not is_there:
                changes.append(f"{line['name']} was out of stock.")
                lost += line["unit_price"] * line["quantity"]
        lost -= max(0, paid.discount - (paid.subtotal - lost))
        return {
            "changes": changes,
            "taken_off": lost or None,
            "added": None,
            "total": paid.total - lost,
        }
