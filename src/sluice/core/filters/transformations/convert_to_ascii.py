"""ConvertToAscii: converts international domain names in rules to Punycode.

Only domain names change. Selectors, regular expressions, paths, names of modifiers, and domain names without an ASCII
form stay as they are.
"""

import re
from typing import Final

from sluice.core.filters.syntax.cosmetic import split_cosmetic
from sluice.core.filters.syntax.lines import WHITESPACE, is_comment
from sluice.core.filters.syntax.punycode import encode_label
from sluice.core.filters.syntax.rules import is_regex, parse_rule
from sluice.core.filters.transformations.transformation import Rewrite, Transformation

# A run of characters other than these separators.
_TOKEN: Final = re.compile(rf"[^{WHITESPACE}^$|=,;]+")
# Letters, digits, `_`, `.`, `*`, `-` and everything non-ASCII.
_NAME: Final = r"[^\x00-)+,/:-@\[-^`{-\x7f]+"
_IS_NAME: Final = re.compile(_NAME)
# An optional scheme or tilde, the name, and an optional port, path or query.
_PARTS: Final = re.compile(rf"((?:[a-z][a-z0-9+.-]*+)?://|//|~)?({_NAME})([:/?#].*)?", re.DOTALL)
# A guess: four times the longest DNS name; Punycode takes quadratic time.
_MAX_NAME: Final = 1024


def _convert_line(line: str) -> str:
    if line.isascii() or is_comment(line):
        return line
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
    if parts is None:
        return token[0]
    before, name, after = parts[1] or "", parts[2], parts[3] or ""
    return f"{before}{to_ascii_name(name)}{after}"


def to_ascii_name(name: str) -> str:
    """Return the name in ASCII; a single label, or a name without an ASCII form, stays as it is."""
    if name.isascii() or "." not in name[1:-1] or len(name) > _MAX_NAME:
        return name
    import idna  # noqa: PLC0415 - few names are not ASCII, and it delays the start of a Worker

    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
    except UnicodeError:
        return name
    labels = mapped.split(".")
    if not _IS_NAME.fullmatch(mapped) or not _are_valid(labels):
        return name
    return ".".join(map(encode_label, labels))


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


CONVERT_TO_ASCII: Final[Transformation] = Rewrite(_convert_line)
