"""How the service is used: requests by endpoint, and counters."""
