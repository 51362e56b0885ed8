"""Compiling over a WebSocket."""
