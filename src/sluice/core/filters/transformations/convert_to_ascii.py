"""ConvertToAscii: converts international domain names in rules to Punycode.

Only domain names change. Selectors, regular expressions, paths, names of modifiers, and domain names without an ASCII
form stay as they are.
"""

import re
from typing import Final

from sluice.core.filters.syntax.cosmetic import split_cosmetic
from sluice.core.filters.syntax.lines import WHITESPACE, is_comment
from sluice.core.filters.syntax.punycode import NAME_CHARACTERS, encode_name
from sluice.core.filters.syntax.rules import is_regex, parse_rule
from sluice.core.filters.transformations.transformation import Rewrite, Transformation

# A run of characters other than these separators.
_TOKEN: Final = re.compile(rf"[^{WHITESPACE}^$|=,;]+")
# What may stand before a name: `@@`, then a scheme with or without a user, or a tilde.
_BEFORE: Final = r"(?:@@)?(?:(?:(?:[A-Za-z*][A-Za-z0-9+.*-]*+)?:)?//(?:[^@/?#]*+@)?|~)?"
# The name, and an optional port, path or query.
_PARTS: Final = re.compile(rf"({_BEFORE})({NAME_CHARACTERS})([:/?#].*)?", re.DOTALL)
# Modifiers before a cosmetic rule: `[$domain=example.org]##.ad`.
_LEADING_MODIFIERS: Final = re.compile(r"\[\$[^\]]*+\]")


def _convert_line(line: str) -> str:
    if line.isascii() or is_comment(line):
        return line
    if modifiers := _LEADING_MODIFIERS.match(line):
        return f"[{_convert_names(modifiers[0][1:-1])}]{_convert_rule(line[modifiers.end() :])}"
    return _convert_rule(line)


def _convert_rule(line: str) -> str:
    if cosmetic := split_cosmetic(line):
        domains, rest = cosmetic
        return _convert_names(domains) + rest
    rule = parse_rule(line)
    if rule and is_regex(rule.pattern):
        end = line.index(rule.pattern) + len(rule.pattern)
        return line[:end] + _convert_names(line[end:])
    return _convert_names(line)


def _convert_names(text: str) -> str:
    return _TOKEN.sub(_convert_token, text)


def _convert_token(token: re.Match[str]) -> str:
    parts = _PARTS.fullmatch(token[0])
    if parts is None or "." not in parts[2][1:-1]:  # a single label is any word
        return token[0]
    before, name, after = parts.groups(default="")
    return f"{before}{encode_name(name)}{after}"


CONVERT_TO_ASCII: Final[Transformation] = Rewrite(_convert_line)
