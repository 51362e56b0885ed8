"""Which requests a cache may answer, what it may store, for how long, and under which name."""
