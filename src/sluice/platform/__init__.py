"""Thin adapters, one per binding: they convert both ways and decide nothing about any feature."""
