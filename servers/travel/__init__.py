"""Hotels: Booking.com and Expedia."""
