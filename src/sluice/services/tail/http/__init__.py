"""The routes of sluice-tail."""
