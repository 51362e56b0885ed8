"""The health of the sources."""
