"""A tool that is going away: first it gives notice, then it is gone."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.state import State
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Positive
from servers.kit.errors import InputError
from servers.kit.service import tool
from servers.kit.values import iso, parse_time


def _moment(text: str) -> str:
    return iso(parse_time(f"{text}T00:00:00Z" if len(str(text)) == 10 else text))


class ApiSunset(Fault):
    """A version that is switched off: replies carry a `notice` at first, later the tool is GONE.

    `date` is the day or moment (UTC) from which the tool is gone, `warnings` the number of calls
    that still work; whichever comes first counts, and with neither the tool is gone at once. The
    notice and the error name the tool to use `instead`.

    Example:
        - api_sunset: {on: venmo.list_transactions, instead: venmo.get_transaction, warnings: 1}
    """

    kind: ClassVar[str] = "api_sunset"
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    instead: str = ""
    warnings: Positive | None = None
    date: Annotated[str, BeforeValidator(_moment)] | None = None
    error: Refusal = Refusal()

    @model_validator(mode="after")
    def _known(self) -> ApiSunset:
        if self.instead and not self.on.open:
            tool(self.instead)
            if self.on.selects(*self.instead.split(".")):
                raise InputError(
                    f"instead: {self.instead} would be gone as well; name a tool that stays"
                )
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Add the notice, or reply that the tool is gone."""
        if not acting.shadow:
            acting.firing.detail["gone"] = self._gone(call, acting)
        hint = "Look for another tool in the list."
        if self.instead:
            hint = f"Use {self._named(call)} instead."
        if acting.firing.detail["gone"]:
            return self.error.reply(
                acting.scope,
                "GONE",
                f"{acting.title} no longer offers {call.tool}.",
                hint,
                retryable=False,
                status=410,
            )
        reply = await call_next(call)
        if reply.is_error or not isinstance(reply.data, dict):
            return reply
        until = f" on {self.date}" if self.date else " soon"
        notice = f"{call.tool} is deprecated and goes away{until}. {hint}"
        return Reply({**reply.data, "notice": notice})

    def _gone(self, call: Call, acting: Acting) -> bool:
        past_date = self.date is not None and call.now >= parse_time(self.date)
        if self.warnings is None:
            return self.date is None or past_date
        state = State.load(acting.session.control, self.name)
        warned = state.memory["warned"] = state.memory.get("warned", 0) + 1
        state.save()
        return warned > self.warnings or past_date

    def _named(self, call: Call) -> str:
        owner, _, short = self.instead.rpartition(".")
        return short if owner == call.service else self.instead
