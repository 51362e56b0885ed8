"""Workflows: their steps, their events, and what starts them."""
