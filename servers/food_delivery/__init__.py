"""Food delivery: restaurants, groceries and add-on stores, orders that advance with the clock, addresses, cards, promotions."""
