"""The object of a zone: its calls, its state and its background work."""
