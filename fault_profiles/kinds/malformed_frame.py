"""A response comes that cannot be read."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from fault_profiles.model import Acting
from fault_profiles.refusal import OUTCOME_UNKNOWN
from fault_profiles.wire import Wire
from servers.kit.call import Reply

_CUT = 40
"""Bytes kept of a truncated response: its beginning, before any of the reply itself."""

_NOT_JSON = "upstream connect error or disconnect/reset before headers\n"
"""What a proxy in front of the server says."""


class MalformedFrame(Wire):
    """The response cannot be read: over HTTP its body is broken, elsewhere an error says so.

    The body is `truncated`, `not_json` or `empty` (`as`); none of the honest reply goes over the
    wire. With `when: before` the call never runs; with `when: after` it is committed.

    Example:
        - malformed_frame: {on: venmo.list_friends, as: truncated, first: 2}
    """

    kind: ClassVar[str] = "malformed_frame"
    when: Literal["before", "after"] = "after"
    shape: Literal["truncated", "not_json", "empty"] = Field(default="truncated", alias="as")

    def in_band(self, acting: Acting) -> Reply:
        """Return the error of an unreadable reply."""
        return self.error.reply(
            acting.scope,
            "UNREADABLE_REPLY",
            f"The response from {acting.title} could not be read.",
            OUTCOME_UNKNOWN,
            retryable=True,
        )

    def on_the_wire(self) -> dict[str, Any]:
        """Cut the response, or send something else."""
        if self.shape == "truncated":
            return {"cut": _CUT}
        headers = {"content-type": "application/json"}
        body = "" if self.shape == "empty" else _NOT_JSON
        return {"answer": {"status": 200, "headers": headers, "body": body}}
