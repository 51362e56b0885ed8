"""Health checks of the sources."""
