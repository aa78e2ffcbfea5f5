"""DoorDash: restaurants, favourites, reorders, gifts, add-on stores, DashPass."""
