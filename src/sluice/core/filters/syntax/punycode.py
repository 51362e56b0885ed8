"""Punycode of single labels."""


def encode_label(label: str) -> str:
    """Return the label in ASCII, as `xn--…` if it is not ASCII already."""
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"
