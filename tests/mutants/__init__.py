"""Mutants of scenario files: each has one slip of the pen, and none may go unnoticed."""
