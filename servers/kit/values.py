"""Values at the tool boundary: money, timestamps, dates and pages.

Rows hold money as integer cents, and moments as UTC ISO-8601 text with a `Z`, which sorts
correctly. Tools use decimal dollars, as the providers do; the conversion is exact and refuses a
third decimal.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import AfterValidator, Field

from servers.kit.errors import ServiceError
from servers.kit.types import Json

_ISO = re.compile(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$")


def fresh(value: Any) -> Any:
    """Return a copy of JSON data in which no object or list occurs twice.

    `copy.deepcopy` would keep what occurs twice as one object, and an edit of one place would then
    edit the other.
    """
    if isinstance(value, dict):
        return {key: fresh(inner) for key, inner in value.items()}
    return [fresh(inner) for inner in value] if isinstance(value, list | tuple) else value


def cents(amount: float | str) -> int:
    """Return the exact cents of a dollar amount.

    Raises `ValueError` for a third decimal or for anything that is not a finite number.
    """
    value = Decimal(str(amount))
    if not value.is_finite() or value != value.quantize(Decimal("0.01")):
        raise ValueError("must be a dollar amount with at most two decimals")
    return int(value * 100)


def dollars(minor: int) -> float:
    """Return cents as dollars, exact to two decimals."""
    return minor / 100


def round_cents(value: Decimal | float) -> int:
    """Round a fractional number of cents half to even, as banks do."""
    return int(Decimal(str(value)).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))


def parse_time(text: str) -> int:
    """Return the epoch seconds (UTC) of an ISO-8601 moment; without a zone it is taken as UTC.

    Raises `ValueError`.
    """
    if not isinstance(text, str) or not _ISO.match(text):
        raise ValueError("must be an ISO-8601 date and time such as 2026-03-14T09:00:00Z")
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())


@functools.lru_cache(maxsize=4096)
def iso(epoch: int) -> str:
    """Return epoch seconds as `YYYY-MM-DDTHH:MM:SSZ`."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sane(text: str) -> str:
    """Return a date or moment unless its year is extreme.

    Adding days or a time zone to an extreme date would overflow.
    """
    if not "1900" <= text[:4] < "2200":
        raise ValueError("must be between the years 1900 and 2199")
    return text


def _timestamp(text: str) -> str:
    _sane(iso(parse_time(text)))
    return text


def _date(text: str) -> str:
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("must be a date such as 2026-03-14")
    return _sane(date.fromisoformat(text).isoformat())


if TYPE_CHECKING:
    Dollars = int
else:
    Dollars = Annotated[
        float,
        Field(gt=0, le=1_000_000, description="Amount in US dollars, at most two decimals."),
        AfterValidator(cents),
    ]
"""A positive dollar amount; the method receives integer cents."""

Timestamp = Annotated[
    str,
    Field(
        description="ISO-8601 date and time, e.g. 2026-03-14T09:00:00-07:00; without an offset, "
        "in the account's time zone."
    ),
    AfterValidator(_timestamp),
]
"""A moment as the agent wrote it; `zones.epoch` resolves it in a time zone."""

Date = Annotated[str, Field(description="Date as YYYY-MM-DD."), AfterValidator(_date)]
"""A calendar date."""

Limit = Annotated[int, Field(ge=1, le=100, description="Number of items per page (1 to 100).")]
Cursor = Annotated[
    str, Field(description="next_cursor of the previous page; omit it for the first page.")
]


class Paged(Protocol):
    """A list that reads its pages itself (see `servers.kit.listing`)."""

    def read(self, limit: int, cursor: str | None) -> tuple[list[Any], str | None]:
        """Return the items of a page, and the cursor of the next one or None."""
        ...


def invalid_cursor() -> ServiceError:
    """Return the refusal of a cursor that is of no item of its list."""
    return ServiceError(
        "INVALID_CURSOR",
        "The cursor is not valid for this list.",
        "Pass next_cursor of the previous page unchanged, or omit it for the first page.",
    )


def page(
    items: Sequence[Any] | Paged,
    name: str,
    limit: int,
    cursor: str | None,
    show: Callable[[Any], Any] | None = None,
) -> Json:
    """Return `{name: items of this page, "next_cursor": str | None}`.

    `show` makes the JSON of an item; it is called for the items of this page only. The cursor is
    opaque and identifies the last item of its page. Rows added before that item therefore shift
    nothing, and a later page stays the same. Raises `ServiceError` INVALID_CURSOR if the cursor
    identifies no item of the list.
    """
    if not isinstance(items, Sequence):
        read, following = items.read(limit, cursor)
        return {name: [show(i) for i in read] if show else read, "next_cursor": following}
    start = 0
    if cursor is not None:
        start = next((n for n, item in enumerate(items, 1) if _cursor(item) == cursor), 0)
        if start == 0:
            raise invalid_cursor()
    shown = items[start : start + limit]
    more = start + limit < len(items)
    return {
        name: [show(i) for i in shown] if show else list(shown),
        "next_cursor": _cursor(shown[-1]) if more else None,
    }


def _cursor(item: Any) -> str:
    first = next(iter(item), "") if isinstance(item, dict) else ""
    identity = item[first] if first.endswith("id") else item
    digest = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=9).digest()
    return base64.urlsafe_b64encode(digest).decode()
