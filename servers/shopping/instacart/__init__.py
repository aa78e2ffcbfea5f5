"""Instacart: groceries from many stores.

A cart for each store, replacements, delivery slots, recipes and past purchases.
"""
