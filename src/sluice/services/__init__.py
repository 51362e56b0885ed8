"""What each service does with the core, through ports."""
