"""Thin adapters, one for each binding: they convert values both ways and decide nothing about a feature."""
