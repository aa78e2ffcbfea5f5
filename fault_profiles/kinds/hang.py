"""The response never comes."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from fault_profiles.model import Acting
from fault_profiles.refusal import timed_out
from fault_profiles.wire import Wire
from servers.kit.call import Reply
from servers.kit.declared import Positive


class Hang(Wire):
    """The response never comes: over HTTP the client waits for real, elsewhere it is a timeout.

    The timeout comes after `seconds` of simulated time. Over HTTP the connection is closed after
    `real_seconds` of real time if the client has not given up by then. With `when: before` the call
    never runs; with `when: after` it is committed. Other calls go on meanwhile.

    Example:
        - hang: {on: "reads:venmo.*", seconds: 60, real_seconds: 5, first: 1}
    """

    kind: ClassVar[str] = "hang"
    seconds: Positive = 60
    real_seconds: Annotated[float, Field(gt=0, le=600)] = 30.0

    def in_band(self, acting: Acting) -> Reply:
        """Return the timeout."""
        return timed_out(self.error, acting, self.seconds)

    def on_the_wire(self) -> dict[str, Any]:
        """Let the client wait."""
        return {"hang": self.real_seconds}
