"""InvertAllow: turns every rule into an exception; comments, hosts rules, exceptions and empty lines stay."""

from typing import Final

from sluice.core.filters.syntax.hosts import is_hosts_rule
from sluice.core.filters.syntax.lines import is_comment
from sluice.core.filters.transformations.transformation import Rewrite, Transformation


def _invert(line: str) -> str:
    if not line or line.startswith("@@") or is_comment(line) or is_hosts_rule(line):
        return line
    return f"@@{line}"


INVERT_ALLOW: Final[Transformation] = Rewrite(_invert)
