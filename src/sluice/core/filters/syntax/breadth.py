"""Recognises patterns that match every name, such as `://` and `||*^`: one such line blocks the whole internet."""

import re
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.filters.syntax.rules import is_regex

# Names that have no character in common, not even a dot. A pattern is matched against the address, as DNS filters do.
_NAMES: Final = ("q7x9jz", "m-m.0k.vw")
_ADDRESSES: Final = tuple(f"http://{name}" for name in _NAMES)
# A pattern with any other letter or digit cannot match all of the addresses.
_MAY_MATCH_ALL: Final = re.compile(r"[htpHTP.*|^:/]{1,30}")
_WORD: Final = re.compile(r"[a-zA-Z]{3}")
_PARTS: Final = {"||": r"http://(?:[^/]*\.)?", "|": r"\A", "*": ".*", "^": r"(?:[^a-z0-9_.%-]|\Z)"}
_TOKEN: Final = re.compile(r"\A\|\||\|\Z|\A\||\*+|\^|.", re.DOTALL)


def matches_everything(pattern: str) -> bool:
    """Return whether the pattern of a rule matches every name.

    A pattern of asterisks or separators alone is not meant: filters ignore it.
    """
    if len(pattern) > 2 and is_regex(pattern):
        return _WORD.search(pattern) is None and _matches_all_names(pattern[1:-1])
    if _MAY_MATCH_ALL.fullmatch(pattern) is None or len(set(pattern)) == 1:
        return False
    expression = re.compile("".join(_translate(token) for token in _TOKEN.finditer(pattern.lower())))
    return all(map(expression.search, _ADDRESSES))


def _translate(token: re.Match[str]) -> str:
    text = token[0]
    if text == "|" and token.start():
        return r"\Z"
    return _PARTS.get("*" if text.startswith("*") else text) or re.escape(text)


def _matches_all_names(source: str) -> bool:
    from sluice.core.filters.patterns.regexes import Regex  # noqa: PLC0415 - few lists have such rules

    try:
        return all(map(Regex(source).matches, _NAMES))
    except Invalid:
        return False
