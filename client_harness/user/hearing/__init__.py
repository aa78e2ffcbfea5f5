"""What the user has learned to hear in an agent's text."""

from pathlib import Path

from client_harness.user.hearing._cues import cues
from client_harness.user.hearing._models import WEIGHTS, Heard, hear

FOLDER = Path(__file__).parent

__all__ = ["FOLDER", "WEIGHTS", "Heard", "cues", "hear"]
