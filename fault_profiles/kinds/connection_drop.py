"""The connection breaks before a response comes."""

from __future__ import annotations

from typing import Any, ClassVar

from fault_profiles.model import Acting
from fault_profiles.refusal import OUTCOME_UNKNOWN
from fault_profiles.wire import Wire
from servers.kit.call import Reply


class ConnectionDrop(Wire):
    """The connection is closed without a response: for real over HTTP, elsewhere as an error.

    The error has the code `CONNECTION_LOST`; `error` changes how it reads. With `when: before` the
    call never runs; with `when: after` it is committed. If a client sends the request again by
    itself, that is another call in the trace.

    Example:
        - connection_drop: {on: venmo.send_money, when: after, first: 1}
    """

    kind: ClassVar[str] = "connection_drop"

    def in_band(self, acting: Acting) -> Reply:
        """Return the error of a lost connection."""
        return self.error.reply(
            acting.scope,
            "CONNECTION_LOST",
            f"The connection to {acting.title} was lost.",
            OUTCOME_UNKNOWN,
            retryable=True,
        )

    def on_the_wire(self) -> dict[str, Any]:
        """Close the connection."""
        return {"drop": True}
