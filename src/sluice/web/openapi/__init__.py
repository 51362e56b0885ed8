"""The OpenAPI document of a Worker, built from its routes."""
