"""Google Finance: quotes, charts by window, sectors, comparisons, and portfolios that only keep track."""
