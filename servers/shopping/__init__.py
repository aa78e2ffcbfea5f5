"""Shops: Amazon, Walmart, Target and Instacart."""
