"""Rules of a hosts file: an address, then one or more hostnames."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE

_SPACE: Final = f"[{WHITESPACE}]"
_WORD: Final = re.compile(f"[^{WHITESPACE}]+")
# Hexadecimal words such as "bad" or "dead.beef" count as addresses, as they do in HostlistCompiler.
_HOSTS_RULE: Final = re.compile(rf"[a-f0-9.:\[\]]++(?:%[a-z0-9]++)?{_SPACE}+[^#]")
_ADDRESS_CHARACTERS: Final = frozenset("abcdef0123456789.:[]")


def is_hosts_rule(line: str) -> bool:
    return line[:1] in _ADDRESS_CHARACTERS and _HOSTS_RULE.match(line) is not None


def iterate_hostnames(line: str) -> Iterator[str]:
    """Yield the hostnames of a hosts rule, up to the comment."""
    end = line.find("#")
    words = _WORD.finditer(line, 0, end if end >= 0 else len(line))
    return (word[0] for word in islice(words, 1, None))
