"""Recognises patterns that match every name, such as `://` and `||*^`: one such line blocks the whole internet."""

import re
from typing import Final

from sluice.core.filters.syntax.rules import is_regex

# Their names have no character in common, not even a dot. A pattern is matched against the address, as DNS filters do.
_ADDRESSES: Final = ("http://q7x9jz", "http://m-m.0k.vw")
# A pattern with any other letter or digit cannot match all of the addresses.
_MAY_MATCH_ALL: Final = re.compile(r"[htpHTP.*|^:/]{1,30}")
_BRACKETS: Final = re.compile(r"\[(?:\\.|[^\]\\])*+\]|\((?:\\.|[^()\\])*+\)")
_WORD: Final = re.compile(r"[a-zA-Z]{3}")
_PARTS: Final = {"||": r"http://(?:[^/]*\.)?", "|": r"\A", "*": ".*", "^": r"(?:[^a-z0-9_.%-]|\Z)"}
_TOKEN: Final = re.compile(r"\A\|\||\|\Z|\A\||\*+|\^|.", re.DOTALL)


def matches_everything(pattern: str) -> bool:
    """Return whether the pattern of a rule matches every name.

    A pattern of asterisks or separators alone is not meant: filters ignore it.
    """
    if len(pattern) > 2 and is_regex(pattern):
        return not _needs_word(pattern) and _matches_every_name(pattern[1:-1])
    if _MAY_MATCH_ALL.fullmatch(pattern) is None or len(set(pattern)) == 1:
        return False
    expression = re.compile("".join(_translate(token) for token in _TOKEN.finditer(pattern.lower())))
    return all(map(expression.search, _ADDRESSES))


def _translate(token: re.Match[str]) -> str:
    text = token[0]
    if text == "|" and token.start():
        return r"\Z"
    return _PARTS.get("*" if text.startswith("*") else text) or re.escape(text)


def _needs_word(pattern: str) -> bool:
    """Return whether a regular expression plainly needs a letter, which some name lacks; there are lists of only such rules."""
    rest = _BRACKETS.sub(" ", pattern)
    return "(" not in rest and "|" not in rest and _WORD.search(rest) is not None


def _matches_every_name(source: str) -> bool:
    from sluice.core.filters.patterns.universality import matches_every_name  # noqa: PLC0415 - few lists have such rules

    return matches_every_name(source)
