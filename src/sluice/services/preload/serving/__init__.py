"""Serving visitors from stored copies, and purging those copies."""
