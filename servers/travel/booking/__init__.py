"""Booking.com."""
