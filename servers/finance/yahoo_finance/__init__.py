"""Yahoo Finance: live quotes, history by interval, options, a message board, trending tickers."""
