"""The OpenAPI document of a Worker, made from its routes."""
