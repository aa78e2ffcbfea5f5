"""Fault kinds, one file each; the folder is the registry."""
