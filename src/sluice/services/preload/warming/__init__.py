"""Warming pages: draining the queue, fetching from the origin within its limits, settling the result."""
