"""Google Finance: quotes, charts by window, sectors, comparisons, and portfolios for tracking."""
