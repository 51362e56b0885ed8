"""What the preload service decides: order, limits, retries, breaker, cacheability, freshness, purges and signatures."""
