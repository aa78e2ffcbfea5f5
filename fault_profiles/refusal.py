"""How a fault's error reads: the provider's own words unless the declaration says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servers.kit.call import Reply
from servers.kit.declared import Declared, Positive
from servers.kit.errors import ServiceError
from servers.kit.expr import render

if TYPE_CHECKING:
    from fault_profiles.decide import Acting


OUTCOME_UNKNOWN = "The request may or may not have been processed."
"""The hint of errors that leave it open whether the call ran."""


class Refusal(Declared):
    """An error; fields that are left out come from the provider's own codes and from the kind.

    `retryable` may lie; `retry_after` is in seconds; `context` adds fields. Texts may contain
    `${…}` over the arguments (`${args.amount}`), so that an error can echo what was sent. With
    `ordinary: true` the same fields come back as an ordinary reply, not flagged as an error.
    """

    code: str | None = None
    message: str | None = None
    hint: str | None = None
    retryable: bool | None = None
    retry_after: Positive | None = None
    status: int | None = None
    context: dict[str, Any] = {}
    ordinary: bool = False

    def reply(
        self,
        scope: dict[str, Any],
        code: str,
        message: str,
        hint: str = "",
        *,
        retryable: bool,
        status: int | None = None,
        retry_after: int | None = None,
    ) -> Reply:
        """Return the error reply, with the kind's defaults for what is not declared."""
        if self.message is not None:
            message = render(self.message, scope)
        if self.hint is not None:
            hint = render(self.hint, scope)
        if self.retryable is not None:
            retryable = self.retryable
        error = ServiceError(
            self.code or code,
            message,
            hint,
            retryable=retryable,
            retry_after=self.retry_after or retry_after,
            status=self.status or status,
            context=render(self.context, scope),
        )
        if self.ordinary:
            return Reply(error.as_json()["error"], False)
        return Reply(error.as_json(), True)


def timed_out(error: Refusal, acting: Acting, seconds: int) -> Reply:
    """Return the provider's timeout error."""
    message = f"{acting.title} did not respond within {seconds} seconds."
    code = acting.codes.timeout
    return error.reply(acting.scope, code, message, OUTCOME_UNKNOWN, retryable=True, status=504)
