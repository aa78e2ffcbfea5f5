"""Instacart: groceries from many stores, with a cart for each, replacements, delivery slots, recipes and past purchases."""
