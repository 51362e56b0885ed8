"""Finds patterns that another pattern of the list contains: every address that the one matches, the other matches too.

`||x.com/ads` contains `||a.x.com/ads.js`, and `||log*.x.com^` contains `||log1.x.com^`. One pattern is matched against the
text of the other: its `*` may stand for anything there, its `^` for a separator or a `^`, but a `*` of the other text only
for a `*`. Candidates are found by the longest literal text of each pattern, in one pass over all of them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.literals import Literals
from sluice.core.filters.patterns.patterns import to_line_numbers
from sluice.core.filters.patterns.work import WorkBudget

_LITERAL: Final = re.compile(r"[^*^|]+")
_MIN_LITERAL: Final = 4  # filters ignore shorter patterns, or read them in different ways
_MAX_CHARS: Final = 1_000
_MAX_CHECKS: Final = 1_000_000  # beyond, the rest of the list stays as it is
_NAME: Final = re.compile(r"[\w.-]+")  # a bare name is a hosts rule, not a pattern
_HOST: Final = re.compile(r"\|\|[a-z0-9_.-]+\^")  # compared by name elsewhere, and faster
_UPPER_HOST: Final = re.compile(r"[^/?]*[A-Z]")
_UNDERSCORE: Final = re.compile(r"[^/?^]*_")  # in a name, on which filters disagree
_SEPARATOR: Final = r"[^a-z0-9_.%*|-]"


class Pattern(NamedTuple):
    """The pattern of a rule without modifiers, by the index of its line."""

    line: int
    text: str
    is_exception: bool

    @property
    def can_contain(self) -> bool:
        """Whether all filters understand it in the same way."""
        return not (
            _NAME.fullmatch(self.text)
            or _HOST.fullmatch(self.text)
            or _UPPER_HOST.match(self.text)
            or self.text.startswith("*")
            or self.text.endswith("*")
        )


@dataclass(slots=True)
class _Container:
    pattern: Pattern
    text: str
    _expression: re.Pattern[str] | None = None

    def contains(self, pattern: Pattern, text: str) -> bool:
        if self.text == text or (pattern.is_exception and not self.pattern.is_exception):
            return False
        if self._expression is None:
            self._expression = _compile(self.text)
        return self._expression.search(text) is not None


def find_contained(patterns: Iterable[Pattern]) -> Iterator[tuple[Pattern, Pattern]]:
    """Yield each pattern with one that contains it; an exception contains blocks too."""
    known = [pattern for pattern in patterns if _can_compare(pattern.text)]
    containers: dict[str, list[_Container]] = {}
    for pattern in known:
        text = pattern.text.lower()
        literal = max(_LITERAL.findall(text), key=len, default="")
        if len(literal) >= _MIN_LITERAL and pattern.can_contain:
            containers.setdefault(literal, []).append(_Container(pattern, text))
    if not containers:
        return
    texts = [pattern.text.lower() for pattern in known]
    checks = 0
    found: set[int] = set()
    for at, literal in _find_literals(texts, containers):
        for container in containers[literal]:
            checks += 1
            if checks > _MAX_CHECKS:
                return
            if at not in found and container.contains(known[at], texts[at]):
                found.add(at)
                yield known[at], container.pattern


def _can_compare(text: str) -> bool:
    return len(text) <= _MAX_CHARS and "\n" not in text and _UNDERSCORE.match(text) is None


def _find_literals(texts: list[str], literals: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of each text with a literal that stands in it, as far as the work is bearable."""
    body = b"\n".join([text.encode("utf-8", "surrogatepass") for text in texts])
    try:
        hits = list(to_line_numbers(body, Literals(list(literals)).find_all(body, WorkBudget())))
    except Invalid:
        return
    for at, literal in hits:
        yield at, literal.decode("utf-8", "surrogatepass")


def _compile(pattern: str) -> re.Pattern[str]:
    """Return an expression for the texts of patterns; each literal is looked for once, so it takes linear time."""
    begin, end = "", ""
    if pattern.startswith("||"):
        begin, pattern = r"\A\|\|(?:[^/^*|:]*\.)?", pattern[2:]
    elif pattern.startswith("|"):
        begin, pattern = r"\A\|(?!\|)", pattern[1:]
    if pattern.endswith("|"):
        end, pattern = r"\|\Z", pattern[:-1]
    first, *rest = re.split(r"\*+", pattern)
    return re.compile(begin + _translate(first) + "".join(f"(?>.*?{_translate(part)})" for part in rest) + end)


def _translate(text: str) -> str:
    return "".join(_SEPARATOR if character == "^" else re.escape(character) for character in text)
