"""Long runs that CI leaves out; each is a module with a command line."""
