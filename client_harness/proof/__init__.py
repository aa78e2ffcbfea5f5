"""The proof that every scenario carries, and `check`, which asks for it.

`proof.Proof` is imported by those who prove, so that a file that does not load is refused at once.
"""

from client_harness.proof.checking import check, check_all, prove, proven

__all__ = ["check", "check_all", "prove", "proven"]
