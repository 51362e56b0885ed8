"""Chance as an argument: names that nobody can guess and no two calls share."""

import secrets


def generate_id() -> str:
    """32 hexadecimal digits; call it inside a handler, the platform forbids chance at import."""
    return secrets.token_hex(16)
