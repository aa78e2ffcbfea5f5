"""The commands of `client_harness`, by what they are about."""
