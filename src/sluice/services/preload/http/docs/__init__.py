"""The API documentation of edge-preload, from which its OpenAPI document is built; no Worker imports it."""
