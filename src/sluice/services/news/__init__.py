"""Bitcoin news: collected, enriched one checkpointed step at a time, and served."""
