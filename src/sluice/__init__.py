"""Reliable background work at the edge, in Python on Cloudflare Workers."""

__version__ = "0.1.0"
