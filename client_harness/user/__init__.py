"""The user as data.

It answers the questions that a scenario foresees, gives the default answer to others, and stops at
a limit.
"""

from client_harness.user._asking import asks
from client_harness.user._user import User

__all__ = ["User", "asks"]
