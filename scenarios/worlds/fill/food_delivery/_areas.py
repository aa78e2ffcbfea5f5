"""The postal codes that couriers of Uber Eats and DoorDash deliver to."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder


def areas(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the postal codes that couriers deliver to.

    They are those of all places, each at the centre of its places, and the additional ones in the
    seeds.
    """
    cities = {c["key"]: c for c in builder.person["cities"]}
    home = builder.person["cities"][0]["key"]
    kitchens = seeds.get("kitchens", {})
    known: dict[str, dict[str, Any]] = {}
    for place in [*builder.places.values(), *kitchens.values(), *seeds["stores"].values()]:
        city = cities[place.get("city", home)]["name"]
        state = place.get("state", builder.person["home"]["state_code"])
        area = known.setdefault(place["zip"], {"city": city, "state": state, "spots": []})
        area["spots"].append((place["lat"], place["lng"]))
    for code, (city, state, lat, lng) in seeds.get("areas", {}).items():
        known.setdefault(code, {"city": city, "state": state, "spots": [(lat, lng)]})
    for code, area in sorted(known.items()):
        spots = area["spots"]
        builder.add(
            seeds["listed_since"],
            "food_delivery_areas",
            zip=code,
            city=area["city"],
            state=area["state"],
            lat=round(sum(lat for lat, _ in spots) / len(spots), 4),
            lng=round(sum(lng for _, lng in spots) / len(spots), 4),
        )
