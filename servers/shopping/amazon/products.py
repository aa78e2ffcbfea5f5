"""The catalogue: search, details, offers, sellers, price history and reviews."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
from servers.shopping import _rules as rules
from servers.shopping._rules import (
    Category,
    MaxPrice,
    MinPrice,
    MinRating,
    ProductId,
    Query,
    ReviewBody,
    ReviewTitle,
    VerifiedOnly,
)
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP

KETTLE = seeded("azp", "kettle-gooseneck")
AnySeller = Annotated[
    str, Field(max_length=64, description="seller_id, from an offer or an order.")
]
Weeks = Annotated[int, Field(ge=1, le=104, description="Number of weeks to look back.")]
AtLeast = Annotated[
    int, Field(ge=1, le=5, description="Only reviews with at least this many stars.")
]
Score = Annotated[int, Field(ge=1, le=5, description="Rating from 1 (worst) to 5 (best) stars.")]


class Products(Service):
    """Products, their sellers, prices and reviews."""

    @reads(example={"query": "wireless headphones"})
    def search_products(
        self,
        query: Query | None = None,
        category: Category | None = None,
        min_price: MinPrice | None = None,
        max_price: MaxPrice | None = None,
        min_rating: MinRating | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search for products, best match first; without a query, all of them by title.

        Prices are in cents; buy_box_price is null if the product is sold out. A similar title may
        be a different model, a bundle or a renewed unit: compare get_product_details.
        """
        catalogue.check_range(self, min_price, max_price)
        catalogue.check_kinds(self, SHOP, category, None)
        offers = model.Offers(self)
        written = catalogue.written(self, SHOP)
        varied = {row[0] for row in self.db.sql("SELECT DISTINCT product_id FROM amazon_variants")}
        priced = min_price is not None or max_price is not None
        limits = (min_price, max_price, min_rating)
        products = []
        for row, item in catalogue.matching(self, SHOP, query):
            if category is not None and item["category"].casefold() != category.casefold():
                continue
            box = model.buy_box(offers.of(row["id"]))
            if priced and box is None:
                continue
            shown = {
                "product_id": row["id"],
                "name": row["title"],
                "brand": item["brand"],
                "category": item["category"],
                **catalogue.rating_json(row["stars"], written.get(row["id"], (0, 0))),
                "buy_box_price": box["now"] if box else None,
                "has_variations": row["id"] in varied,
                "prime_eligible": bool(box and box["prime"]),
            }
            if catalogue.fits(shown, box["now"] if box else 0, limits):
                products.append(shown)
        return page(products, "products", limit, cursor)

    @reads()
    def list_departments(self) -> Json:
        """List the departments with the categories in each, as the search takes them."""
        return catalogue.departments_json(self, SHOP)

    @reads(example={"product_id": KETTLE})
    def get_product_details(self, product_id: ProductId) -> Json:
        """Return a product: description, features, rating, images, variations, and the buy box.

        `upc` identifies the model across shops. Variations show whether they are in stock. Prices
        are in cents.
        """
        row = catalogue.find_product(self, SHOP, product_id)
        item = catalogue.item_of(self, row)
        listed = model.Offers(self).of(product_id)
        box = model.buy_box(listed)
        written = catalogue.written(self, SHOP).get(product_id, (0, 0))
        restocks = [o["restock_on"] for o in listed if not o["left"]]
        keys = ("brand", "category", "department", "description", "features")
        return {
            "product_id": product_id,
            "name": row["title"],
            **{key: item[key] for key in keys},
            "upc": row["item_id"],
            **catalogue.rating_json(row["stars"], written),
            "images": [f"https://images.amazon.example/{product_id}/{n}.jpg" for n in (1, 2)],
            "variations": [_variation(v, box) for v in model.variants(self, product_id)],
            "buy_box": self._buy_box(box),
            "restock_date": min(filter(None, restocks), default=None),
            "discontinued": catalogue.discontinued(self, row),
            "returnable": not (item["food"] or item["final_sale"]),
            "quantity_limit": row["per_order"],
        }

    def _buy_box(self, box: Row | None) -> Json | None:
        seller = self.db.get("amazon_sellers", box["seller_id"]) if box else None
        if box is None or seller is None:
            return None
        return {
            "seller_id": box["seller_id"],
            "seller_name": seller["name"],
            "price": box["now"],
            "shipping_cost": box["shipping"],
            "condition": box["condition"],
            "prime_eligible": box["prime"],
            "in_stock_quantity": box["left"],
        }

    @reads(example={"product_id": KETTLE})
    def get_product_offers(
        self, product_id: ProductId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return all sellers' offers of a product, cheapest first, in cents.

        They are sorted by landed price: price + shipping_cost.
        """
        catalogue.find_product(self, SHOP, product_id)
        listed = model.Offers(self).of(product_id)
        box = model.buy_box(listed)

        def show(offer: Row) -> Json:
            seller = self.db.get("amazon_sellers", offer["seller_id"]) or {}
            fewest, most = offer["days"]
            return {
                "seller_id": offer["seller_id"],
                "seller_name": seller["name"],
                "seller_rating": seller["rating"],
                "condition": offer["condition"],
                "price": offer["now"],
                "shipping_cost": offer["shipping"],
                "shipping_speed": "Prime" if offer["prime"] else f"{fewest}-{most} days",
                "prime_eligible": offer["prime"],
                "is_buy_box": box is not None and offer["id"] == box["id"],
                "in_stock": offer["left"] > 0,
                "quantity_left": offer["left"],
                "restock_date": offer["restock_on"] if offer["left"] == 0 else None,
            }

        return page(listed, "offers", limit, cursor, show)

    @reads(example={"seller_id": seeded("azs", "amazon")})
    def get_seller(self, seller_id: AnySeller) -> Json:
        """Return a seller: name, average rating, number of ratings, and whether it is Amazon.

        Also shows since when it has been selling on Amazon.
        """
        row = self.db.get("amazon_sellers", seller_id)
        if row is None:
            message = f"There is no seller with the ID {seller_id!r}."
            self.fail(
                "SELLER_NOT_FOUND",
                message,
                "Use a seller_id from get_product_offers.",
                seller_id=seller_id,
            )
        query = "SELECT count(DISTINCT product_id) FROM amazon_offers WHERE seller_id=?"
        offered = self.db.sql(query, seller_id)[0][0]
        return {
            "seller_id": seller_id,
            "name": row["name"],
            "rating": row["rating"],
            "rating_count": row["ratings"],
            "selling_since": row["since"],
            "is_amazon": row["own"],
            "products_offered": offered,
        }

    @reads(example={"product_id": KETTLE, "limit": 10})
    def get_price_history(
        self,
        product_id: ProductId,
        weeks: Weeks = 26,
        limit: Limit = 30,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return how the lowest price of a product has changed, newest first.

        It covers new items from well-rated sellers, in cents without shipping. Each price has the
        first day on which it applied.
        """
        catalogue.find_product(self, SHOP, product_id)
        listed = model.trusted_new(self, product_id)
        this_week = catalogue.week_of(self.now)
        changes: list[dict[str, Any]] = []
        # Start with the oldest week, so that each price gets the first day on which it applied.
        for week in range(this_week - weeks + 1, this_week + 1) if listed else ():
            start = catalogue.week_start(week)
            price = min(catalogue.offer_price(offer, start) for offer in listed)
            if not changes or changes[-1]["price"] != price:
                changes.append({"date": iso(start)[:10], "price": price})
        prices = [change["price"] for change in changes]
        return page(changes[::-1], "price_history", limit, cursor) | {
            "product_id": product_id,
            "lowest": min(prices, default=None),
            "highest": max(prices, default=None),
        }

    @reads(example={"product_id": seeded("azp", "yoga-mat"), "min_rating": 3})
    def get_reviews(
        self,
        product_id: ProductId,
        min_rating: AtLeast | None = None,
        verified_only: VerifiedOnly = False,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the buyers' reviews of a product that Amazon shows, newest first.

        The product's counts and its average rating also cover all others.
        """
        catalogue.find_product(self, SHOP, product_id)
        stars = (min_rating or 1, 5)
        days = (since, until)
        reviews = catalogue.reviews(self, SHOP, product_id, stars, verified_only, days)
        return page(
            reviews, "reviews", limit, cursor, lambda r: catalogue.review_json(r, product_id)
        )

    @writes(
        example={
            "product_id": KETTLE,
            "rating": 4,
            "title": "Pours beautifully",
            "body": "Heats quickly and the spout is precise. The base is a bit light.",
        }
    )
    def write_review(
        self, product_id: ProductId, rating: Score, title: ReviewTitle, body: ReviewBody
    ) -> Json:
        """Publish your review of a product and return it; you can write one per product.

        It is marked as verified if the product was delivered to you.
        """
        product = catalogue.find_product(self, SHOP, product_id)
        author = rules.profile(self, SHOP)["name"]
        review = catalogue.add_review(self, SHOP, product_id, rating, title, body, author)
        mail.reviewed(self, SHOP, review, product)
        return catalogue.review_json(review, product_id)


def _variation(variant: Row, box: Row | None) -> Json:
    return {
        "variant_id": variant["id"],
        "attributes": variant["attributes"],
        "price": model.unit_price(box, variant) if box else None,
        "in_stock": box is not None and model.units_left(box, variant) > 0,
    }
