"""Which page is warmed when, what may be cached and for how long, and how a request is signed."""
