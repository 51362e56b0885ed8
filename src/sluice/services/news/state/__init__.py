"""The Durable Object of the news service: what is served, and what must be exact."""
