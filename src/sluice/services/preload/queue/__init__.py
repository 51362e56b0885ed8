"""The queue of pages to warm, with batches and dead letters."""
