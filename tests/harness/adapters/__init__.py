"""What the tests of all adapters share."""
