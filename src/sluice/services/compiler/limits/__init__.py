"""What one request and one compilation may use: fetches, memory, and turns in the isolate."""
