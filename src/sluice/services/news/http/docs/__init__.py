"""The API documentation of the three news Workers, from which its OpenAPI document is built; no Worker imports it."""
