"""Lists in the background: rows, messages, the consumer, and what looks after them."""
