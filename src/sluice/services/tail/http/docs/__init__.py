"""The API documentation of sluice-tail, from which its OpenAPI document is built; no Worker imports it."""
