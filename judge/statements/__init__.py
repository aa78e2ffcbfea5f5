"""Statements: what is told to the user and to others, each with its truth at that moment."""

from judge.statements.checks import Mails, Told, Truthful
from judge.statements.statement import Statement

__all__ = ["Mails", "Statement", "Told", "Truthful"]
