"""Uber Eats: restaurants, groceries with substitutions, group orders, Uber One."""
