"""The HTTP API of edge-preload: routes, request bodies, replies and their documentation."""
