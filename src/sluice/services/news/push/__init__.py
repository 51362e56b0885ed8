"""Tells others of new stories: a WebSub hub for the feeds, and signed webhooks."""
