"""Argument types for several categories of services: people, postal addresses, payment cards."""

from __future__ import annotations

import re
import types
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import AfterValidator, Field
from pydantic.fields import FieldInfo

MOST_ID = 64
"""The most characters of an id; the longest of ours has about 30."""


Id = Annotated[str, Field(max_length=MOST_ID)]
"""An id. Only fields of nested types must say it; arguments of tools are bounded by `id_like`."""


def names_an_id(argument: str) -> bool:
    """Return whether an argument is an id, or a list of ids, as its name says."""
    return argument == "id" or argument.endswith(("_id", "_ids"))


def id_like(hint: Any) -> Any:
    """Return the type of an id argument with a bound on its length, if it has none of its own.

    So no service has to declare it, and none can forget it.
    """
    origin = get_origin(hint)
    if hint is str:
        return Id
    if origin is Annotated:
        inner, *about = get_args(hint)
        if inner is str and any(_is_bounded(note) for note in about):
            return hint
        return Annotated[id_like(inner), *about]
    if origin is list:
        (item,) = get_args(hint)
        return types.GenericAlias(list, (id_like(item),))
    if origin in (Union, types.UnionType):
        return Union[tuple(id_like(option) for option in get_args(hint))]  # noqa: UP007
    return hint


def _is_bounded(note: Any) -> bool:
    if not isinstance(note, FieldInfo):
        return False
    return any(hasattr(rule, "max_length") or hasattr(rule, "pattern") for rule in note.metadata)


PersonName = Annotated[str, Field(min_length=1, max_length=120, description="Full name.")]
Email = Annotated[str, Field(pattern=r"^[^@ ]+@[^@ ]+\.[^@ ]+$", description="Email address.")]
Phone = Annotated[
    str, Field(pattern=r"^\+?[0-9() .-]{7,20}$", description="Phone number, e.g. +1-503-555-0142.")
]
Last4 = Annotated[
    str, Field(pattern=r"^[0-9]{4}$", description="Last four digits of the account or card number.")
]

Street = Annotated[str, Field(min_length=3, max_length=120, description="House number and street.")]
City = Annotated[str, Field(min_length=2, max_length=80, description="City.")]
State = Annotated[str, Field(pattern=r"^[A-Z]{2}$", description="Two-letter state code, e.g. OR.")]
Zip = Annotated[str, Field(pattern=r"^[0-9]{5}(-[0-9]{4})?$", description="ZIP code, e.g. 97214.")]

Rating = Annotated[int, Field(ge=1, le=5, description="Stars, from 1 (worst) to 5 (best).")]


def _card_number(text: str) -> str:
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"[0-9]{13,19}", digits):
        raise ValueError("must be a card number of 13 to 19 digits")
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    if total % 10:
        raise ValueError("is not a valid card number (its check digit is wrong)")
    return digits


def _expiry(text: str) -> str:
    parts = re.fullmatch(r"(0[1-9]|1[0-2])/(?:20)?([0-9]{2})", text)
    if not parts:
        raise ValueError("must be the expiration month and year as MM/YY, e.g. 08/29")
    month, year = parts.groups()
    return f"20{year}-{month}"


CardNumber = Annotated[
    str, Field(description="Card number, 13 to 19 digits."), AfterValidator(_card_number)
]
"""A card number with a valid check digit (Luhn); the method receives bare digits.

Test numbers such as 4242 4242 4242 4242 are valid.
"""
Expiry = Annotated[str, Field(description="Expiration date as MM/YY."), AfterValidator(_expiry)]
"""A card's expiry; the method receives `YYYY-MM`, which compares with the current month."""
Cvv = Annotated[str, Field(pattern=r"^[0-9]{3,4}$", description="Security code, 3 or 4 digits.")]


_BRANDS = {"visa": "4", "mastercard": "5[1-5]|2[2-7]", "amex": "3[47]", "discover": "6"}
"""The first digits of each brand's numbers."""


def card_brand(number: str) -> str:
    """Return visa, mastercard, amex, discover or card, depending on the first digits."""
    for brand, pattern in _BRANDS.items():
        if re.match(pattern, number):
            return brand
    return "card"


def card_expired(expires: str | None, at: str) -> bool:
    """Return whether a card has expired at a moment (ISO).

    `expires` is the card's last month (`YYYY-MM`), or None if it has none.
    """
    return expires is not None and expires < at[:7]
