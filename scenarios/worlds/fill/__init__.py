"""Generators: a module for each kind of seeds, named after them.

One that reads more than the seeds, such as a catalogue, is in a folder of its category.
"""
