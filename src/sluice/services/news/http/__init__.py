"""What the three news Workers answer over HTTP."""
