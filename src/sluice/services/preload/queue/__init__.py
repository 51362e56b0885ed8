"""The priority queue of pages to warm, with leases, batches and dead letters."""
