"""The harness: episodes, users, agents, runs, reports and the command line."""
