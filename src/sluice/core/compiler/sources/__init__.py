"""The sources of a list: download with backoff, decoding, conditions, includes and line origins."""
