"""The routes, replies and API documentation of the three news Workers."""
