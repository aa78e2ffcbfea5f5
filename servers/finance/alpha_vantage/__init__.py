"""Alpha Vantage: delayed quotes, series, technical indicators and figures of the economy."""
