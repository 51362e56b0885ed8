"""Stores the events of the other Workers for a day, and reports failures to a webhook."""
