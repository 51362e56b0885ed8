"""Which pages there are: sitemaps, known pages and the index of stored ones."""
