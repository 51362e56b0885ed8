"""Which pages a site has: sitemaps, warmed pages, and the index of stored copies."""
