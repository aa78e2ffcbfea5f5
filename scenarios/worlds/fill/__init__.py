"""Generators: a file for each kind of seeds, in a folder of the category where it reads more than the seeds."""
