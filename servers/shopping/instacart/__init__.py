"""Instacart: groceries from many stores.

Each store has its own cart; there are replacements, delivery slots, recipes and past purchases.
"""
