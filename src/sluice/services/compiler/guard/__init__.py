"""Who may compile, and how often."""
