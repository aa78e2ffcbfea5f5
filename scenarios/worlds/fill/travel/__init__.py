"""Hotels, stays and plans."""
