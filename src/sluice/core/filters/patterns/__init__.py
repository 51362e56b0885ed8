"""Exclusions and inclusions: the patterns, and regular expressions that cannot backtrack too long."""
