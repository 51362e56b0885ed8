"""Which addresses may be fetched (SSRF), and the guarded fetch with its redirect rules."""
