"""Cities, drivers, and past and scheduled rides."""
