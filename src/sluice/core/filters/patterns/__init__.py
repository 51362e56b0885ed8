"""Exclusions and inclusions: patterns that lines are matched against."""
