"""What a run may spend, and what it has spent so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from client_harness.results import Trial, cost_of, tokens_of
from servers.kit.errors import InputError


@dataclass(frozen=True)
class Budget:
    """The most that a run may spend, in dollars and in tokens; None is no bound.

    No trial is begun once it is spent. Trials that are being played are not cut short.
    """

    cost: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for option, most in (("--max-cost", self.cost), ("--max-tokens", self.tokens)):
            if most is not None and not 0 < most < float("inf"):
                raise InputError(f"{option} must be more than 0, not {most:g}")

    def exceeded(self, spent: Spent) -> str:
        """Return what is spent, or nothing while there is something left."""
        if self.cost is not None and spent.cost >= self.cost:
            return f"{dollars(spent.cost)} of --max-cost {self.cost:g} are spent"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"{spent.tokens} of --max-tokens {self.tokens} are spent"
        return ""

    def must_bind(self, trial: Trial) -> None:
        """Raise `InputError` if a trial shows that the budget could never be seen to be spent."""
        used = trial.spent
        tokens = tokens_of(used)
        if self.cost is not None and tokens and not {"cost", "history_cost"} & used.keys():
            raise InputError(
                f"--max-cost does not work with {trial.agent}: it used {tokens} tokens and no "
                "price is known for them; use --max-tokens"
            )


@dataclass
class Spent:
    """What agents and a judge model used in a run: dollars and tokens."""

    cost: float = 0.0
    tokens: int = 0

    def add(self, trial: Trial) -> None:
        """Add what all tries of a trial used, and what its reading cost."""
        used: Counter[str] = trial.spent
        self.cost += cost_of(used) + trial.reading.get("cost", 0.0)
        self.tokens += tokens_of(used) + trial.reading.get("tokens", 0)

    def take_back(self, trial: Trial) -> None:
        """Undo `add`."""
        other = Spent()
        other.add(trial)
        self.cost -= other.cost
        self.tokens -= other.tokens

    @classmethod
    def of(cls, trials: Iterable[Trial]) -> Spent:
        """Return what trials used together."""
        spent = cls()
        for trial in trials:
            spent.add(trial)
        return spent

    def __str__(self) -> str:
        if self.cost:
            return dollars(self.cost)
        return f"{self.tokens:,} tokens" if self.tokens else ""


def dollars(amount: float) -> str:
    """Return `$0.42`, with more digits for small amounts."""
    return f"${amount:.2f}" if amount >= 0.1 else f"${amount:.4f}"
