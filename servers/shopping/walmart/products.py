"""The catalogue: search, details, stock in stores, reviews; and the stores themselves."""

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
from servers.shopping import _rules as rules
from servers.shopping import _stores as stores
from servers.shopping._rules import (
    Category,
    Department,
    MaxPrice,
    MinPrice,
    MinRating,
    ProductId,
    Query,
    ReviewBody,
    ReviewTitle,
    Stars,
    StoreId,
    VerifiedOnly,
)
from servers.shopping._stores import CityFilter, Radius, StateName, ZipFilter
from servers.shopping.walmart import _model as model
from servers.shopping.walmart._model import SHOP

SortBy = Annotated[
    Literal["price_low", "price_high", "rating", "name"],
    Field(description="Order of the results; defaults to best match first."),
]
FRYER = seeded("wmp", "airfryer-5")
GLASS = seeded("wmp", "kettle-glass")
EASTPORT = seeded("wms", "eastport")


class Products(Service):
    """Products and reviews, online and in stores."""

    @reads(example={"query": "air fryer", "sort_by": "price_low"})
    def browse_products(
        self,
        query: Query | None = None,
        category: Category | None = None,
        department: Department | None = None,
        min_price: MinPrice | None = None,
        max_price: MaxPrice | None = None,
        rating_min: MinRating | None = None,
        sort_by: SortBy | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search for products with words and filters; colours and sizes are options of one result.

        Each option has its own product_id. Prices are in cents. The effective_price is the current
        price, which the price filters use; rollback_price is set while a temporary price applies.
        """
        catalogue.check_range(self, min_price, max_price)
        catalogue.check_kinds(self, SHOP, category, department)
        written = catalogue.written(self, SHOP)
        limits = (min_price, max_price, rating_min)
        families = set()
        products = []
        for row, item in catalogue.matching(self, SHOP, query):
            if category is not None and item["category"].casefold() != category.casefold():
                continue
            if department is not None and item["department"].casefold() != department.casefold():
                continue
            if row["family"] in families:
                continue
            families.add(row["family"])
            head = catalogue.siblings(self, SHOP, row)[0]
            shown = {
                "product_id": head["id"],
                "name": head["title"],
                "brand": item["brand"],
                "category": item["category"],
                "department": item["department"],
                **model.price_json(head, self.now),
                **catalogue.rating_json(head["stars"], written.get(head["family"], (0, 0))),
                "options": self._options(head),
            }
            price = catalogue.listing_price(head, self.now)
            if catalogue.fits(shown, price, limits):
                products.append(shown | {"effective_price": price})
        products = catalogue.in_order(products, sort_by, "effective_price")
        return page(products, "products", limit, cursor)

    def _options(self, row: Row) -> list[dict[str, Any]]:
        options = []
        for sibling in catalogue.siblings(self, SHOP, row):
            if not sibling["options"] or catalogue.discontinued(self, sibling):
                continue
            option = {
                "product_id": sibling["id"],
                "attributes": sibling["options"],
                "price": catalogue.listing_price(sibling, self.now),
            }
            options.append(option)
        return options

    @reads()
    def list_departments(self) -> Json:
        """List the departments with the categories in each, as the search takes them."""
        return catalogue.departments_json(self, SHOP)

    @reads(example={"product_id": FRYER})
    def get_item_details(self, product_id: ProductId) -> Json:
        """Return a product: description, features, upc, rating, options, prices in cents, stock.

        The effective_price is the current price: the rollback_price while there is one, else the
        regular price. The online_quantity is the number of units that can be shipped now.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        item = catalogue.item_of(self, row)
        left = catalogue.online_stock(self, SHOP, row)
        written = catalogue.written(self, SHOP).get(row["family"], (0, 0))
        keys = ("brand", "category", "department", "description", "features")
        return {
            "product_id": product_id,
            "name": row["title"],
            **{key: item[key] for key in keys},
            "upc": row["item_id"],
            "attributes": row["options"],
            "options": self._options(row),
            **model.price_json(row, self.now),
            "effective_price": catalogue.listing_price(row, self.now),
            **catalogue.rating_json(row["stars"], written),
            "online_in_stock": left > 0,
            "online_quantity": left,
            "restock_date": row["restock_on"] if left == 0 else None,
            "sold_in_stores": not row["online_only"],
            "discontinued": catalogue.discontinued(self, row),
            "returnable": not (item["food"] or item["final_sale"]),
            "quantity_limit": row["per_order"],
        }

    @reads(example={"product_id": FRYER, "store_id": EASTPORT})
    def check_store_availability(self, product_id: ProductId, store_id: StoreId) -> Json:
        """Return whether a store has a product now, how many units, and where.

        The price_override is the store's own price in cents, if it has one.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        store = stores.find_store(self, SHOP, store_id)
        place = stores.shelf(self, SHOP, row, store)
        carried = not row["online_only"]
        return {
            "product_id": product_id,
            "store_id": store_id,
            "in_stock": place["quantity"] > 0,
            "quantity": place["quantity"],
            "aisle": place["aisle"] if carried else None,
            "section": str(place["section"]) if carried else None,
            "price_override": place["price"],
            "effective_price": model.unit_price(self, row, store),
        }

    @reads(example={"product_id": FRYER})
    def get_item_reviews(
        self,
        product_id: ProductId,
        rating_filter: Stars | None = None,
        verified_only: VerifiedOnly = False,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the reviews of a product that Walmart shows, newest first.

        All colours and sizes share them. The product's counts and its average rating also cover
        reviews that are not shown.
        """
        family = catalogue.find_product(self, SHOP, product_id)["family"]
        stars = (rating_filter or 1, rating_filter or 5)
        rows = catalogue.reviews(self, SHOP, family, stars, verified_only, (since, until))
        return page(rows, "reviews", limit, cursor, lambda r: catalogue.review_json(r, family))

    @writes(
        example={
            "product_id": GLASS,
            "rating": 5,
            "title": "Quick",
            "body": "Boils a litre in four minutes and switches itself off.",
        }
    )
    def submit_review(
        self, product_id: ProductId, rating: Rating, title: ReviewTitle, body: ReviewBody
    ) -> Json:
        """Publish your review of a product and return it.

        You can write one per product, whatever its colour or size.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        author = rules.profile(self, SHOP)["name"]
        review = catalogue.add_review(self, SHOP, row["family"], rating, title, body, author)
        mail.reviewed(self, SHOP, review, row)
        return catalogue.review_json(review, row["family"])

    # -- stores ------------------------------------------------------------------------------------
    @reads(example={"zip_code": "97214"})
    def find_stores(
        self,
        zip_code: ZipFilter | None = None,
        city: CityFilter | None = None,
        state: StateName | None = None,
        radius_miles: Radius = 25,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return Walmart stores near a ZIP code or city, nearest first.

        Each has its distance in miles, address, local hours, services, and whether it has closed
        permanently.
        """
        nearby = stores.near(self, SHOP, zip_code, city, state, radius_miles)
        return page(nearby, "stores", limit, cursor)

    @reads(example={"store_id": EASTPORT})
    def get_store_info(self, store_id: StoreId) -> Json:
        """Return a store's address, coordinates, phone, local hours, services, and is_open now."""
        return stores.store_json(self, stores.find_store(self, SHOP, store_id))

    @reads()
    def get_home_store(self) -> Json:
        """Return the home store, or null if none was chosen.

        Pickup and delivery use it by default.
        """
        store_id = model.home_store(self)
        store = None
        if store_id:
            store = stores.store_json(self, stores.find_store(self, SHOP, store_id))
        return {
            "user_id": rules.profile(self, SHOP)["user_id"],
            "home_store_id": store_id,
            "store": store,
        }

    @writes(example={"store_id": seeded("wms", "hayden")}, idempotent=True)
    def set_home_store(self, store_id: StoreId) -> Json:
        """Set the home store. Items already in the basket keep their store."""
        store = stores.open_store(self, SHOP, store_id)
        if model.home_store(self) != store_id:
            settings = self.db.rows("walmart_settings")[0]
            self.db.update("walmart_settings", settings["id"], home_store=store_id)
        return {
            "user_id": rules.profile(self, SHOP)["user_id"],
            "home_store_id": store_id,
            "store_name": store["name"],
        }
