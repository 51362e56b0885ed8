"""The run lease: one run at a time, and never on an old copy of what the last run wrote."""
