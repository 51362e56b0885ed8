"""Bitcoin news: collected, enriched one checkpointed stage at a time, and served."""
