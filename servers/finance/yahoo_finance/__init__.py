"""Yahoo Finance: live quotes, history by interval, options, a message board and what it talks about."""
