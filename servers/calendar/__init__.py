"""Calendars: events, series, invitations, free and busy times."""
