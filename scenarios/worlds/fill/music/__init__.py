"""The catalogue and the libraries of the music services."""
