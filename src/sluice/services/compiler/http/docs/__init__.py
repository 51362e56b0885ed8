"""The API documentation of adblock-compiler, from which its OpenAPI document is built; no Worker imports it."""
