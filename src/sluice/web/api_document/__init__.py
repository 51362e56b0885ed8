"""The OpenAPI document of a Worker, built from its routes before a deployment; no Worker imports it."""
