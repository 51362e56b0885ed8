"""Random ids, which features receive as an argument so that tests can fix them."""

import secrets


def generate_id() -> str:
    """Return 32 random hexadecimal digits; call it inside a handler, the platform forbids randomness at import."""
    return secrets.token_hex(16)
