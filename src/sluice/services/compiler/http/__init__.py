"""What adblock-compiler answers over HTTP."""
