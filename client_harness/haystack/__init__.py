"""What is reported of instances: their sizes, what became of each trial, and curves."""
