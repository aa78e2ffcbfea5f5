"""Speed, as ratios against a named baseline measured in the same run; `make bench` prints them."""
