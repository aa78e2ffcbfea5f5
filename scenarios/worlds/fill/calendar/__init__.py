"""Calendars of the person and of others: happenings, series, slots, rooms and polls."""
