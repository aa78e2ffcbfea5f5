"""Gmail: labels, snooze, scheduled send and templates."""
