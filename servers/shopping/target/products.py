"""The catalogue: search, details, aisles in stores, reviews; and the stores."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Rating
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
from servers.shopping import _returns as returns
from servers.shopping import _rules as rules
from servers.shopping import _stores as stores
from servers.shopping._stores import CityFilter, Radius, StateName, ZipFilter
from servers.shopping.target import _model as model
from servers.shopping.target._model import SHOP

Order = Annotated[
    Literal["relevance", "price_low", "price_high", "rating", "name"],
    Field(description="Order of the results; defaults to relevance."),
]
VACUUM = seeded("tgp", "vacuum-stick")
HOLLYWOOD = seeded("tgs", "hollywood")
OWN_BRAND = "Harbour & Hay"
UPSTAIRS = ("Home", "Toys", "Baby")
"""Departments on the second floor."""


class Products(Service):
    """Products, where to find them in stores, and reviews."""

    @reads(example={"query": "stick vacuum"})
    def search_merchandise(
        self,
        query: rules.Query | None = None,
        department: rules.Department | None = None,
        category: rules.Category | None = None,
        sort_by: Order | None = None,
        rating_min: rules.MinRating | None = None,
        min_price: rules.MinPrice | None = None,
        max_price: rules.MaxPrice | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search for products; colours and sizes are options of one result. Prices in cents.

        Each option has its own product_id. `price` is the price for shipping, after any sale; order
        pickup, drive-up and same-day delivery cost in_store_price, which may differ.
        """
        catalogue.check_range(self, min_price, max_price)
        catalogue.check_kinds(self, SHOP, category, department)
        written = catalogue.written(self, SHOP)
        limits = (min_price, max_price, rating_min)
        families: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        for row, item in catalogue.matching(self, SHOP, query):
            families.setdefault(row["family"], (row, item))
        products = []
        for family, (row, item) in families.items():
            if category and item["category"].lower() != category.lower():
                continue
            if department and item["department"].lower() != department.lower():
                continue
            first = row if row["id"] == family else catalogue.find_product(self, SHOP, family)
            rating = catalogue.rating_json(first["stars"], written.get(family, (0, 0)))
            shown = self._head(first, item) | rating
            if catalogue.fits(shown, shown["price"], limits):
                products.append(shown)

        def show(product: Row) -> dict[str, Any]:
            return product | {"options": self._options(product["product_id"])}

        products = catalogue.in_order(products, sort_by, "price")
        return page(products, "products", limit, cursor, show)

    def _head(self, row: Row, item: Row) -> Json:
        return {
            "product_id": row["id"],
            "name": row["title"],
            "brand": item["brand"],
            "category": item["category"],
            "department": item["department"],
            "price": catalogue.listing_price(row, self.now),
            "in_store_price": None if row["online_only"] else model.in_store_price(row, self.now),
            "regular_price": row["price"],
            "sale_until": row["special_until"] if catalogue.on_special(row, self.now) else None,
        }

    def _options(self, product_id: str) -> list[dict[str, Any]]:
        product = catalogue.find_product(self, SHOP, product_id)
        options = []
        for row in catalogue.siblings(self, SHOP, product):
            if not row["options"] or catalogue.discontinued(self, row):
                continue
            in_stock = catalogue.online_stock(self, SHOP, row) > 0
            option = {"product_id": row["id"], **row["options"], "in_stock_online": in_stock}
            options.append(option)
        return options

    @reads()
    def list_departments(self) -> Json:
        """List the departments with the categories in each, as the search takes them."""
        return catalogue.departments_json(self, SHOP)

    @reads(example={"product_id": VACUUM})
    def get_merchandise_info(self, product_id: rules.ProductId) -> Json:
        """Return a product: description, features, upc, rating, options, prices in cents, any sale.

        The shippable_quantity is the number of units that can be shipped now.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        item = catalogue.item_of(self, row)
        stock = catalogue.online_stock(self, SHOP, row)
        written = catalogue.written(self, SHOP).get(row["family"], (0, 0))
        return {
            **self._head(row, item),
            "description": item["description"],
            "features": item["features"],
            "upc": row["item_id"],
            "attributes": row["options"],
            "options": self._options(product_id),
            **catalogue.rating_json(row["stars"], written),
            "shippable_quantity": stock,
            "back_in_stock_on": row["restock_on"] if not stock else None,
            "online_only": row["online_only"],
            "discontinued": catalogue.discontinued(self, row),
            "return_days": life_days(self, row),
            "limit_per_order": row["per_order"],
        }

    @reads(example={"product_id": VACUUM, "store_id": HOLLYWOOD})
    def check_in_store_availability(
        self, product_id: rules.ProductId, store_id: rules.StoreId
    ) -> Json:
        """Return how many units of a product a store has now, with aisle, shelf and floor."""
        place = self._place(product_id, store_id)
        return {
            "product_id": product_id,
            "store_id": store_id,
            "in_stock": place["quantity"] > 0,
            "quantity": place["quantity"],
            "aisle": place["aisle"],
            "shelf": place["shelf"],
            "floor": place["floor"],
        }

    @reads(example={"product_id": VACUUM, "store_id": HOLLYWOOD})
    def find_in_store(self, product_id: rules.ProductId, store_id: rules.StoreId) -> Json:
        """Return the location of a product in a store: aisle, shelf, floor and department.

        `found` is false if the store does not carry it.
        """
        place = self._place(product_id, store_id)
        return {
            "product_id": product_id,
            "store_id": store_id,
            "found": place["aisle"] is not None,
            "aisle": place["aisle"],
            "shelf": place["shelf"],
            "floor": place["floor"],
            "department_area": place["department_area"],
        }

    def _place(self, product_id: str, store_id: str) -> Json:
        """Return `{quantity, aisle, shelf, floor, department_area}`; None where not carried."""
        row = catalogue.find_product(self, SHOP, product_id)
        store = stores.find_store(self, SHOP, store_id)
        spot = stores.shelf(self, SHOP, row, store)
        if row["online_only"]:
            return {
                "quantity": 0,
                "aisle": None,
                "shelf": None,
                "floor": None,
                "department_area": None,
            }
        return spot | {
            "shelf": "ABCDEFG"[spot["section"] - 1],
            "floor": 2 if spot["department"] in UPSTAIRS else 1,
            "department_area": spot["department"],
        }

    @reads(example={"product_id": seeded("tgp", "lantern-led")})
    def read_reviews(
        self,
        product_id: rules.ProductId,
        verified_only: rules.VerifiedOnly = False,
        rating_filter: rules.Stars | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the guests' reviews of a product that Target shows, newest first.

        All colours and sizes share them. The product's counts and its average rating also cover
        reviews that are not shown.
        """
        family = catalogue.find_product(self, SHOP, product_id)["family"]
        stars = (rating_filter or 1, rating_filter or 5)
        rows = catalogue.reviews(self, SHOP, family, stars, verified_only, (since, until))
        return page(rows, "reviews", limit, cursor, lambda r: catalogue.review_json(r, family))

    @writes(
        example={
            "product_id": VACUUM,
            "rating": 3,
            "title": "Good, loud",
            "body": "Cleans well on wood, loud on carpet.",
        }
    )
    def post_review(
        self,
        product_id: rules.ProductId,
        rating: Rating,
        title: rules.ReviewTitle,
        body: rules.ReviewBody,
    ) -> Json:
        """Post your review of a product and return it.

        You can write one per product, whatever its colour or size.
        """
        product = catalogue.find_product(self, SHOP, product_id)
        family = product["family"]
        name = rules.profile(self, SHOP)["name"]
        review = catalogue.add_review(self, SHOP, family, rating, title, body, name)
        mail.reviewed(self, SHOP, review, product)
        return catalogue.review_json(review, family)

    # -- stores ------------------------------------------------------------------------------------
    @reads(example={"city": "Portland", "state": "OR"})
    def search_stores(
        self,
        zip_code: ZipFilter | None = None,
        city: CityFilter | None = None,
        state: StateName | None = None,
        radius_miles: Radius = 30,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return Target stores near a ZIP code or city, nearest first.

        Each has its distance in miles, address, local hours, and fulfilment services.
        """
        nearby = stores.near(self, SHOP, zip_code, city, state, radius_miles)
        return page(nearby, "stores", limit, cursor)

    @reads(example={"store_id": HOLLYWOOD})
    def get_store(self, store_id: rules.StoreId) -> Json:
        """Return a store's address, coordinates, phone, local hours and services."""
        return stores.store_json(self, stores.find_store(self, SHOP, store_id))

    @reads()
    def get_preferred_store(self) -> Json:
        """Return the preferred store, or null if none was chosen.

        Pickup, drive-up and same-day delivery use it by default.
        """
        store_id = model.preferred_store(self)
        store = None
        if store_id:
            store = stores.store_json(self, stores.find_store(self, SHOP, store_id))
        return {
            "user_id": rules.profile(self, SHOP)["user_id"],
            "preferred_store_id": store_id,
            "store": store,
        }

    @writes(example={"store_id": seeded("tgs", "galleria")}, idempotent=True)
    def set_preferred_store(self, store_id: rules.StoreId) -> Json:
        """Set the preferred store. Lines already in the cart keep their store."""
        name = stores.open_store(self, SHOP, store_id)["name"]
        settings = self.db.rows("target_settings")[0]
        if settings["preferred_store"] != store_id:
            self.db.update("target_settings", settings["id"], preferred_store=store_id)
        return {
            "user_id": rules.profile(self, SHOP)["user_id"],
            "preferred_store_id": store_id,
            "store_name": name,
        }


def life_days(svc: Service, row: Row) -> int | None:
    """Return the number of days in which a product can be returned without a RedCard.

    None means never.
    """
    return own_brand_days(svc, row) or returns.return_days(svc, SHOP, row)


def own_brand_days(svc: Service, row: Row) -> int | None:
    """Return a year for Target's own brand, else None."""
    item = catalogue.item_of(svc, row)
    if item["brand"] != OWN_BRAND or item["final_sale"]:
        return None
    return 365
