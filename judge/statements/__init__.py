"""Statements: what is told to the user and to others, each with its truth at that moment."""

from judge.statements.statement import Statement

__all__ = ["Statement"]
