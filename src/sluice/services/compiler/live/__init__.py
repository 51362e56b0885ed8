"""Compilations that report while they run: Server-Sent Events and WebSockets."""
