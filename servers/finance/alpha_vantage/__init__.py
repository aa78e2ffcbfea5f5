"""Alpha Vantage: delayed quotes, series, technical indicators and economic data."""
