"""Uber Eats' tables, its words and its fees."""

from __future__ import annotations

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _rules as rules
from servers.food_delivery._pricing import Tariff
from servers.kit.store import Table

TABLES = {
    "uber_eats_profile": rules.PROFILE,
    "uber_eats_addresses": rules.ADDRESSES,
    "uber_eats_cards": rules.CARDS,
    "uber_eats_memberships": rules.MEMBERSHIPS,
    "uber_eats_offers": rules.OFFERS,
    "uber_eats_restaurants": catalogue.RESTAURANTS,
    "uber_eats_items": catalogue.ITEMS,
    "uber_eats_options": catalogue.OPTIONS,
    "uber_eats_orders": orders.orders_table("group_id:str? idempotency_key:str?"),
    "uber_eats_lines": orders.lines_table("participant:str?"),
    "uber_eats_substitutions": Table(
        "id:str order_id:str item_id:str preference:str substitute_id:str? set_at:str",
        index=("order_id",),
    ),
    "uber_eats_groups": Table(
        "id:str restaurant_id:str host:str created_at:str deadline_at:str order_id:str?"
    ),
    "uber_eats_group_members": Table(
        "id:str group_id:str name:str joined_at:str", index=("group_id",)
    ),
    "uber_eats_group_items": Table(
        "id:str group_id:str member:str item_id:str name:str quantity:int unit_price:int options:list instructions:str?",
        index=("group_id",),
    ),
}
WORDS = rules.Words(
    tables="uber_eats",
    address="uea",
    card="uep",
    order="ueo",
    line="uel",
    window="uew",
    shop="RESTAURANT",
    offer="OFFER",
    slot="WINDOW",
    member="Uber One",
    statuses={
        "scheduled": "scheduled",
        "placed": "placed",
        "confirmed": "confirmed",
        "preparing": "preparing",
        "assigned": "courier_assigned",
        "on_the_way": "picked_up",
        "delivered": "delivered",
        "cancelled": "canceled",
    },
    list_addresses="list_delivery_addresses",
    add_address="register_delivery_address",
    list_cards="get_registered_payments",
    add_card="register_payment_method",
    search="search_restaurants or search_grocery_stores",
    menu="get_menu or get_grocery_catalog",
    list_offers="get_available_offers",
    save_offer="save_offer",
    list_orders="get_order_history",
    windows="get_delivery_windows",
    quote="get_order_quote",
)
TARIFF = Tariff(
    base=149, per_mile=70, miles_free=1.0, rush=150, service=1500, service_least=199, service_most=1200, member_service=1000,
    free_from=1500, grocery_free_from=3500,
)  # fmt: skip
WINDOW_MINUTES = 30
WINDOW_DAYS = 2
FEE_CONFIRMED = 40
FEE_PREPARING = 40
BENEFITS = (
    "No delivery fee on restaurant orders from $15",
    "No delivery fee on grocery orders from $35",
    "Service fee of 10 % instead of 15 %",
    "Offers for members only",
)
