"""ConvertToAscii: international domain names become Punycode, wherever in a rule they stand.

Only what is a domain name changes: selectors, regular expressions, paths and the names of modifiers stay, and so does
a name that has no ASCII form.
"""

import re
from typing import Final

import idna

from sluice.core.filters.syntax.cosmetic import split_cosmetic
from sluice.core.filters.syntax.lines import WHITESPACE, is_comment
from sluice.core.filters.syntax.rules import is_regex, parse
from sluice.core.filters.transformations.transformation import Rewrite, Transformation

# Names may be separated by any of these.
_TOKEN: Final = re.compile(rf"[^{WHITESPACE}^$|=,;]+")
# Letters, digits, `_`, `.`, `*`, `-` and everything beyond ASCII.
_NAME: Final = r"[^\x00-)+,/:-@\[-^`{-\x7f]+"
_IS_NAME: Final = re.compile(_NAME)
# Perhaps a scheme or a tilde, the name, and perhaps a port, a path or a query.
_PARTS: Final = re.compile(rf"((?:[a-z][a-z0-9+.-]*+)?://|//|~)?({_NAME})([:/?#].*)?", re.DOTALL)
# A guess: four times the longest name of DNS; Punycode takes quadratic time.
_MAX_NAME: Final = 1024


def _convert(line: str) -> str:
    if line.isascii() or is_comment(line):
        return line
    if cosmetic := split_cosmetic(line):
        domains, rest = cosmetic
        return _converted(domains) + rest
    rule = parse(line)
    if rule and is_regex(rule.pattern):
        end = line.index(rule.pattern) + len(rule.pattern)
        return line[:end] + _converted(line[end:])
    return _converted(line)


def _converted(text: str) -> str:
    return _TOKEN.sub(_converted_token, text)


def _converted_token(token: re.Match[str]) -> str:
    parts = _PARTS.fullmatch(token[0])
    if parts is None:
        return token[0]
    before, name, after = parts[1] or "", parts[2], parts[3] or ""
    return f"{before}{_ascii_name(name)}{after}"


def _ascii_name(name: str) -> str:
    """The name in ASCII; one of a single label, or without an ASCII form, stays as it is."""
    if name.isascii() or "." not in name[1:-1] or len(name) > _MAX_NAME:
        return name
    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
    except UnicodeError:
        return name
    labels = mapped.split(".")
    if not _IS_NAME.fullmatch(mapped) or not _are_valid(labels):
        return name
    return ".".join(map(_ascii_label, labels))


def _are_valid(labels: list[str]) -> bool:
    """What UTS #46 asks of labels: no combining mark first, no misplaced joiner, no mixed directions."""
    try:
        return all(map(idna.check_bidi, labels)) and all(label.isascii() or _is_valid(label) for label in labels)
    except idna.IDNAError:
        return False


def _is_valid(label: str) -> bool:
    idna.check_initial_combiner(label)
    joiners = (position for position, character in enumerate(label) if character in "\u200c\u200d")
    return "*" not in label and all(idna.valid_contextj(label, position) for position in joiners)


def _ascii_label(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"


CONVERT_TO_ASCII: Final[Transformation] = Rewrite(_convert)
