"""Workers AI as a service that may fail: what its failures mean, and when it is asked."""
