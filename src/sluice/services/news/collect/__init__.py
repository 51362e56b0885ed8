"""The updater: collects new articles."""
