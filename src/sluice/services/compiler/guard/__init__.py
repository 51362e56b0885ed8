"""Who may compile, and how often: the rate limit and Turnstile."""
