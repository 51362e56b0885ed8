"""Tells a list from what hosts send in its place: a page, an apology, JSON, a Git LFS pointer, a broken merge.

Almost every line can be read as a rule, `404: Not Found` too, so lines are judged by what only prose and markup have.
"""

import re
from collections.abc import Sequence
from typing import Final

from sluice.core.compiler.sources.source_errors import BadSource
from sluice.core.filters.syntax.cosmetic import is_cosmetic
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.filters.syntax.rules import is_regex, parse_rule

_MAX_JUDGED: Final = 5_000  # lines, evenly spread over the source
_MAX_QUOTED_CHARS: Final = 60
_WEB_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_CONFLICTS: Final = (b"<<<<<<< ", b">>>>>>> ")  # at the begin of a line
_NULS_OF_TEXT: Final = 1_000  # a text may have one NUL in so many bytes
_CONTROLS: Final = bytes({*range(9), *range(14, 27), *range(28, 32)})  # that no text has at its begin
_BEGIN: Final = 64
_MARKUP_OR_BLANK: Final = re.compile(r"[\s<{]")
# No heading and no prose, told at a glance: most lines of most lists.
_COMMON_RULE: Final = re.compile(r"\|\|[^\s<{]++|(?:0\.0\.0\.0|127\.0\.0\.1) (?!local)[a-z][\w-]*+\.[\w.-]++")
_BARE_WORD: Final = re.compile(r"[^\W_]+(?:[-'_][^\W_]+)*[.:!?]?")
# Stricter than what counts as a hosts rule elsewhere: `404:` and `be` are no addresses.
_ADDRESS: Final = re.compile(
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[?[0-9a-fA-F:]*::[0-9a-fA-F:.]*\]?(?:%\w+)?)\s+([^\s#]+)"
)
_LOOPBACK_NAMES: Final = frozenset(
    {"localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback",
     "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts"}
)  # fmt: skip


def check_is_text(body: bytes) -> None:
    """Raise BadSource for a binary file, a web page, a Git LFS pointer and a broken merge."""
    begin = body[:_BEGIN]
    if body.count(b"\0") * _NULS_OF_TEXT > len(body) or len(begin.translate(None, _CONTROLS)) < len(begin):
        raise BadSource("it is a binary file, not text: check the address")
    if _WEB_PAGE.match(body):
        raise BadSource("it is a web page, not a list: check the address")
    if body.startswith(_LFS_POINTER):
        raise BadSource("it is a Git LFS pointer, not a list: use the address that serves the file itself")
    if line := _find_conflict(body):
        raise BadSource(f"line {line}: it has an unresolved merge conflict: ask its author to repair it")


def _find_conflict(body: bytes) -> int | None:
    """Return the line number of the first mark that a merge leaves."""
    starts = [0] if body.startswith(_CONFLICTS) else []
    starts += [at + 1 for mark in _CONFLICTS if (at := body.find(b"\n" + mark)) >= 0]
    return body.count(b"\n", 0, min(starts)) + 1 if starts else None


def find_prose(lines: Sequence[str]) -> str | None:
    """Return the first line of prose if most lines that are no comments are prose."""
    sample = _sample(lines)
    doubtful = [line for line in sample if _COMMON_RULE.fullmatch(line) is None]
    rules = len(sample) - len(doubtful)
    judged = [line for line in doubtful if not _is_heading(line)]
    prose = [line for line in judged if _is_prose(line)]
    return prose[0] if len(prose) * 2 > rules + len(judged) else None


def check_is_no_prose(lines: Sequence[str]) -> None:
    """Raise BadSource, which quotes a line, for a page or a message in place of a list."""
    if (prose := find_prose(lines)) is not None:
        quoted = prose.strip()[:_MAX_QUOTED_CHARS]
        raise BadSource(f"it is a page or a message, not a list: check the address (it says: {quoted})")


def has_rules(lines: Sequence[str]) -> bool:
    """Return whether some line is more than a comment or the loopback entry of a hosts file."""
    return not all(map(_is_heading, lines))


def _sample(lines: Sequence[str]) -> Sequence[str]:
    return lines[:: len(lines) // _MAX_JUDGED + 1]


def _is_heading(line: str) -> bool:
    """Return whether the line is a comment, `[Adblock Plus 2.0]`, or the loopback entry of a hosts file."""
    if is_comment(line) or is_blank(line) or (line.startswith("#") and not is_cosmetic(line)):
        return True
    if line.startswith("[") and line.rstrip().endswith("]"):
        return True
    entry = _ADDRESS.match(line)
    return entry is not None and (entry[1] in _LOOPBACK_NAMES or _ADDRESS.match(f"{entry[1]} x") is not None)


def _is_prose(line: str) -> bool:
    text = line.strip()
    if _MARKUP_OR_BLANK.search(text) is None:
        return _BARE_WORD.fullmatch(text) is not None
    return not (_ADDRESS.match(text) or is_cosmetic(text) or _is_regex_rule(text))


def _is_regex_rule(text: str) -> bool:
    rule = parse_rule(text)
    return rule is not None and len(rule.pattern) > 1 and is_regex(rule.pattern)
