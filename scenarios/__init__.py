"""Scenarios, the worlds they play in and the histories they carry."""
