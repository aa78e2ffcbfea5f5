"""Places, their reviews and the person's own."""
