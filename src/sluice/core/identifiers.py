"""Identifiers built from random digits."""


def format_uuid4(digits: str) -> str:
    """Format 32 random hexadecimal digits as a UUID of version 4."""
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
