"""What authors of scenarios and faults work with: trial calls, seeds, schemas, first drafts.

Everything here is imported by the command that needs it, so that other commands start as fast.
"""
