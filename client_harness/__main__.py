"""`python -m client_harness` is the command `client_harness`."""

from client_harness.cli import main

main()
