"""The commands of `client_harness`, grouped by topic."""
