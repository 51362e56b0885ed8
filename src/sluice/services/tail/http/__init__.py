"""What sluice-tail answers over HTTP."""
