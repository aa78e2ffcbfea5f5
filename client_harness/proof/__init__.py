"""The proof that every scenario carries, and `check`, which asks for it."""

from client_harness.proof.checking import check, check_all, prove, proven
from client_harness.proof.play import Played, play
from client_harness.proof.proof import Proof

__all__ = ["Played", "Proof", "check", "check_all", "play", "prove", "proven"]
