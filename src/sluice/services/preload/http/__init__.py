"""What edge-preload answers over HTTP."""
