"""Bindings as the SDK wraps them, in memory and stricter than the platform: what passes here passes there."""
