"""Lists on their way: compiled once, packed once, kept, and shared."""
