"""JSON from other services, pages and storage, read without the risk of exhausting the stack.

The stack of WebAssembly is short, and overflowing it does not raise an exception: it ends the isolate.
"""

import json
import re
from typing import Any, Final

# Far above any real document; Python's own limit is about 1,000 frames, and less inside WebAssembly.
MAX_DEPTH: Final = 64

# Possessive, and closed by an optional quote: every character is visited once, even in an unfinished string.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def is_too_deep(text: str) -> bool:
    """Return whether arrays and objects are nested more than MAX_DEPTH levels deep; brackets in strings do not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH:
            return True
    return False


def parse_bounded_json(text: str, *, strict: bool = True) -> Any:
    """Parse a JSON text; raises ValueError if it is not JSON or nested too deep.

    Without `strict`, strings may contain control characters.
    """
    if is_too_deep(text):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return json.loads(text, strict=strict)


def parse_stored_json(text: str | None) -> Any:
    """Parse a stored text; returns None if there is none or it is not JSON."""
    try:
        return None if text is None else parse_bounded_json(text)
    except ValueError:
        return None
