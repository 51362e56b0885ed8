"""The transformations, one module each, and the reasons for which they drop lines."""
