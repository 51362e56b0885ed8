"""The OpenAPI document of a Worker, built from the documentation of its routes; no Worker imports it."""
