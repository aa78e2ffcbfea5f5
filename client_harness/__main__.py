"""Lets `python -m client_harness` run the command line."""

from client_harness.cli import main

main()
