"""Cities, drivers, past and coming rides."""
