"""The names of published lists, and the letters that stand for a name in the path of patches."""

import hashlib
import re
from typing import Final

from sluice.core.errors import BadField, Invalid

MAX_NAME_CHARS: Final = 64
RESERVED: Final = frozenset({"patches"})
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
# The same with its length and without what is reserved, for a JSON schema.
NAME_PATTERN: Final = f"(?!(?:{'|'.join(RESERVED)})$)[a-z0-9](?:[a-z0-9-]{{0,{MAX_NAME_CHARS - 2}}}[a-z0-9])?"
_ID_CHARS: Final = 16
PATCH_ID_PATTERN: Final = f"[a-z]{{{_ID_CHARS}}}"
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"


def check_name(name: str) -> str:
    """Return the name; raise Invalid for one that cannot be an address."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        reason = f"has 1 to {MAX_NAME_CHARS} characters of a-z and 0-9, with hyphens inside"
    elif name in RESERVED:
        reason = f"cannot be {name}, which is reserved: choose another one"
    else:
        return name
    raise Invalid(f"the name of a list {reason}", [BadField("name", reason)])


def derive_patch_id(name: str) -> str:
    """Return letters that stand for the name: a hyphen or a digit in front of the date would break a client."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest())
    letters = []
    for _ in range(_ID_CHARS):
        number, letter = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[letter])
    return "".join(letters)
