"""Background jobs: their rows, their queue messages, the consumer, and the sweeper that resends lost messages."""
