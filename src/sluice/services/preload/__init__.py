"""The preload service: warms a site's pages before visitors arrive, and serves the stored copies."""
