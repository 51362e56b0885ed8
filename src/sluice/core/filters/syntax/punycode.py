"""Punycode: names and single labels in ASCII."""

import re
from typing import Final

# Letters, digits, `_`, `.`, `*`, `-` and everything non-ASCII.
NAME_CHARACTERS: Final = r"[^\x00-)+,/:-@\[-^`{-\x7f]+"
_IS_NAME: Final = re.compile(NAME_CHARACTERS)
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
# A guess: four times the longest DNS name; Punycode takes quadratic time.
_MAX_NAME: Final = 1024


def encode_label(label: str) -> str:
    """Return the label in ASCII, as `xn--…` if it is not ASCII already."""
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"


def encode_name(name: str) -> str:
    """Return the name in ASCII and lower case, by UTS #46; one that is ASCII, or has no such form, stays as it is.

    A `*` may stand for a label, and a dot at either end; no letter becomes one of these.
    """
    if name.isascii() or len(name) > _MAX_NAME:
        return name
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
    except UnicodeError:
        return name
    labels = mapped.split(".")
    keeps_shape = mapped.count("*") == name.count("*") and labels.count("") == _DOTS.split(name).count("")
    if not keeps_shape or not _IS_NAME.fullmatch(mapped) or not _are_valid(labels):
        return name
    return ".".join(map(encode_label, labels))


def normalise_name(name: str) -> str:
    """Return a name as DNS has it: in ASCII if it has such a form, in lower case, without the final dot."""
    return encode_name(name).lower().removesuffix(".")


def _are_valid(labels: list[str]) -> bool:
    """Check the rules of UTS #46: no leading combining mark, no misplaced joiner, no mixed directions."""
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    try:
        return all(map(idna.check_bidi, labels)) and all(label.isascii() or _is_valid(label) for label in labels)
    except idna.IDNAError:
        return False


def _is_valid(label: str) -> bool:
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    idna.check_initial_combiner(label)
    joiners = (position for position, character in enumerate(label) if character in "\u200c\u200d")
    return "*" not in label and all(idna.valid_contextj(label, position) for position in joiners)
