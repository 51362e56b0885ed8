"""Warming pages: draining the queue, asking the origin, storing what it answers."""
