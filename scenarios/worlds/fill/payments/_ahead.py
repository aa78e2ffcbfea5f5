"""What `ahead.yaml` says about money: what people ask for or pay after the start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.errors import UnknownName
from servers.kit.values import iso

_PROVIDERS = ("venmo", "zelle")


def requests(builder: Builder, provider: str) -> Iterator[dict[str, Any]]:
    """Yield the requests through a provider as `payments.yaml` would say them."""
    for seed in _seeds(builder, provider, "requests"):
        yield seed | {"way": "incoming"}


def payments(builder: Builder, provider: str) -> Iterator[dict[str, Any]]:
    """Yield what people pay to the person as `payments.yaml` would say it."""
    for seed in _seeds(builder, provider, "payments"):
        yield seed | {"way": "received"}


def _seeds(builder: Builder, provider: str, kind: str) -> Iterator[dict[str, Any]]:
    for happening in builder.ahead:
        for seed in happening.get(kind, []):
            if seed["on"] not in _PROVIDERS:
                raise UnknownName("provider", seed["on"], _PROVIDERS, f"ahead.yaml {kind}")
            if seed["on"] == provider:
                yield seed | {
                    "key": f"ahead-{happening['key']}-{seed['from']}",
                    "at": iso(builder.moment(seed["at"])),
                    "with": seed["from"],
                }
