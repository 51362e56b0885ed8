"""Wildcards: `*` stands for any text and `?` for one character; they match the whole line, ignoring case."""

import re
from typing import Final

_SINGLE: Final = re.compile(r"[^?]+")


class Wildcard:
    """A pattern in lower case, split at its asterisks; `literal` is the longest text that every match contains."""

    def __init__(self, text: str) -> None:
        self._parts = [
            re.compile("".join("." if character == "?" else re.escape(character) for character in part), re.DOTALL)
            for part in text.lower().split("*")
        ]
        self._widths = list(map(len, text.lower().split("*")))
        literals = _SINGLE.findall(text.lower().replace("*", "?"))
        self.literal = max(literals, key=len, default="")

    def matches(self, line: str) -> bool:
        """Return whether the line contains the parts in this order, the outer ones at its ends."""
        lower = line.lower()
        start, end = self._widths[0], len(lower) - self._widths[-1]
        if start > end or not self._parts[0].match(lower) or not self._parts[-1].match(lower, end):
            return False
        for part in self._parts[1:-1]:
            found = part.search(lower, start, end)
            if found is None:
                return False
            start = found.end()
        return True

    def bound_work(self, line: str) -> float:
        """Return the most characters that a match of the line compares."""
        return float(len(line) * (1 + max(self._widths)))
