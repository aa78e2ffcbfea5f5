"""The securities that all worlds share, as rows of `finance_securities`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenarios.worlds.build import parsed
from servers.finance._market import PIP, SECURITIES

FILE = Path(__file__).with_suffix(".yaml")
LISTED = "2012-01-03T14:30:00Z"


def rows() -> list[dict[str, Any]]:
    """Return every security's row."""
    seeds = parsed(FILE)
    names = {kind: columns.split() for kind, columns in seeds["columns"].items()}

    def said(kind: str, values: list[Any]) -> dict[str, Any]:
        return dict(zip(names[kind], values, strict=True))

    found = [
        _stock(said("stocks", s), sector.removesuffix(" 2"))
        for sector, stocks in seeds["stocks"].items()
        for s in stocks
    ]
    found += [_fund(said("etfs", s), "etf") for s in seeds["etfs"]]
    found += [_fund(said("funds", s), "mutual_fund") for s in seeds["funds"]]
    found += [
        _row(said("crypto", s) | {"kind": "crypto", "exchange": "CRYPTO"}) for s in seeds["crypto"]
    ]
    for row in found:
        day = seeds["listed"].get(row["symbol"])
        row["listed_at"] = f"{day}T14:30:00Z" if day else LISTED
        row["halted_at"], row["delisted_at"] = (
            seeds["halted"].get(row["symbol"]),
            seeds["delisted"].get(row["symbol"]),
        )
    return found


def _stock(said: dict[str, Any], sector: str) -> dict[str, Any]:
    figures = {
        "eps": round(said["eps"] * 100),
        "revenue": said["revenue"] * 1_000_000,
        "shares_outstanding": said["shares"] * 1_000_000,
    }
    return _row(said | figures | {"kind": "stock", "sector": sector})


def _fund(said: dict[str, Any], kind: str) -> dict[str, Any]:
    own = {
        "kind": kind,
        "sector": said.get("sector") or None,
        "target_year": said.get("target_year") or None,
    }
    if kind == "etf":
        return _row(said | own | {"share_class": "etf"})
    return _row(
        said | own | {"exchange": "FUND", "volume": 0, "minimum_investment": said["minimum"] * 100}
    )


def _row(said: dict[str, Any]) -> dict[str, Any]:
    paid = bool(said.get("dividend"))
    optional = [name for name, (_, nullable) in SECURITIES.columns.items() if nullable]
    row = {name: said.get(name) for name in optional}
    row |= {k: said[k] for k in ("symbol", "name", "kind", "exchange", "about")}
    row |= {k: float(said[k]) for k in ("beta", "volatility", "drift")}
    months = _months(said["months"]) if paid else None
    row |= {"dividend": round(said["dividend"] * PIP) if paid else None, "dividend_months": months}
    row["dividend_day"] = min(said["day"], 28) if paid else None
    return row | {
        "pattern": said.get("pattern", said["symbol"]),
        "base_price": round(said["price"] * PIP),
        "volume": said["volume"] * 1000,
        "growth": float(said["growth"]) if "growth" in said else None,
    }


def _months(when: str) -> list[int]:
    if when == "m":
        return list(range(1, 13))
    first = when.removeprefix("q")
    return (
        [int(first.removesuffix(" only"))]
        if first.endswith("only")
        else sorted((int(first) + n - 1) % 12 + 1 for n in (0, 3, 6, 9))
    )
