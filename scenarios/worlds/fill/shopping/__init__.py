"""Products and past orders of the shops, and of Instacart."""
