"""Figures about dialogues of wild users."""
