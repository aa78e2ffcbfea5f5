"""Food delivery: Uber Eats and DoorDash, with orders that advance with the clock."""
