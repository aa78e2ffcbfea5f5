"""Finance: one market, and the brokers and market-data services that use it."""
