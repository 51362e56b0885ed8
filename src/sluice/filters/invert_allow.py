"""InvertAllow: every rule becomes an exception; comments, hosts lines, exceptions and empty lines stay."""

from typing import Final

from sluice.filters.hosts import is_hosts_rule
from sluice.filters.lines import is_comment
from sluice.filters.traces import Rewrite, Transformation


def _invert(line: str) -> str:
    if not line or line.startswith("@@") or is_comment(line) or is_hosts_rule(line):
        return line
    return f"@@{line}"


INVERT_ALLOW: Final[Transformation] = Rewrite(_invert)
