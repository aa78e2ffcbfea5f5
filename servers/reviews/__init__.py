"""Reviews of places: Yelp and Google Maps."""
