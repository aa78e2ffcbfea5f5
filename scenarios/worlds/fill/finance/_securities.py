"""The securities that all worlds share, as rows of `finance_securities`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenarios.worlds.build import parsed
from servers.finance._market import PIP, SECURITIES

FILE = Path(__file__).with_suffix(".yaml")
LISTED = "2012-01-03T14:30:00Z"


def rows() -> list[dict[str, Any]]:
    """Return the row of every security."""
    seeds = parsed(FILE)
    columns = {kind: names.split() for kind, names in seeds["columns"].items()}

    def named(kind: str, values: list[Any]) -> dict[str, Any]:
        return dict(zip(columns[kind], values, strict=True))

    securities = []
    for sector, stocks in seeds["stocks"].items():
        for values in stocks:
            # A YAML key must be unique, so a sector's second list has the key "… 2".
            securities.append(_stock(named("stocks", values), sector.removesuffix(" 2")))
    securities += [_fund(named("etfs", values), "etf") for values in seeds["etfs"]]
    securities += [_fund(named("funds", values), "mutual_fund") for values in seeds["funds"]]
    securities += [_coin(named("crypto", values)) for values in seeds["crypto"]]
    for row in securities:
        symbol = row["symbol"]
        day = seeds["listed"].get(symbol)
        row["listed_at"] = f"{day}T14:30:00Z" if day else LISTED
        row["halted_at"] = seeds["halted"].get(symbol)
        row["delisted_at"] = seeds["delisted"].get(symbol)
    return securities


def _stock(seed: dict[str, Any], sector: str) -> dict[str, Any]:
    figures = {
        "eps": round(seed["eps"] * 100),
        "revenue": seed["revenue"] * 1_000_000,
        "shares_outstanding": seed["shares"] * 1_000_000,
    }
    return _row(seed | figures | {"kind": "stock", "sector": sector})


def _fund(seed: dict[str, Any], kind: str) -> dict[str, Any]:
    own = {
        "kind": kind,
        "sector": seed.get("sector") or None,
        "target_year": seed.get("target_year") or None,
    }
    if kind == "etf":
        own["share_class"] = "etf"
    else:
        minimum = seed["minimum"] * 100
        own |= {"exchange": "FUND", "volume": 0, "minimum_investment": minimum}
    return _row(seed | own)


def _coin(seed: dict[str, Any]) -> dict[str, Any]:
    return _row(seed | {"kind": "crypto", "exchange": "CRYPTO"})


def _row(seed: dict[str, Any]) -> dict[str, Any]:
    """Return a security's row. Its prices are in 1/10000 dollars."""
    pays = bool(seed.get("dividend"))
    optional = [name for name, (_, nullable) in SECURITIES.columns.items() if nullable]
    row = {name: seed.get(name) for name in optional}
    row |= {name: seed[name] for name in ("symbol", "name", "kind", "exchange", "about")}
    row |= {name: float(seed[name]) for name in ("beta", "volatility", "drift")}
    return row | {
        "dividend": round(seed["dividend"] * PIP) if pays else None,
        "dividend_months": _months(seed["months"]) if pays else None,
        "dividend_day": min(seed["day"], 28) if pays else None,
        "pattern": seed.get("pattern", seed["symbol"]),
        "base_price": round(seed["price"] * PIP),
        "volume": seed["volume"] * 1000,
        "growth": float(seed["growth"]) if "growth" in seed else None,
    }


def _months(when: str) -> list[int]:
    """Return the months of dividends.

    `m` is monthly, `q2` quarterly from February on, and `q2 only` yearly in February.
    """
    if when == "m":
        return list(range(1, 13))
    first = when.removeprefix("q")
    if first.endswith("only"):
        return [int(first.removesuffix(" only"))]
    return sorted((int(first) + later - 1) % 12 + 1 for later in (0, 3, 6, 9))
