"""The kinds of lines that are not rules: comments and blank lines."""

from typing import Final

# The white space of JavaScript. Python's own set also has U+001C to U+001F and U+0085, and lacks the BOM.
WHITESPACE: Final = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

CREDITS: Final = "Credits"  # the comment that names the homepage and the licence of a source
_COMMENT_STARTS: Final = ("!", "# ", "####")

# A line with another first character is neither, which is faster to check.
COMMENT_OR_EMPTY_STARTS: Final = frozenset({"", "!", "#"})


def is_comment(line: str) -> bool:
    """Return whether the line is a comment; `#ad`, `##.ad`, `###ad` and an indented `!` are rules."""
    return line.startswith(_COMMENT_STARTS) or line == "#"


def is_blank(line: str) -> bool:
    return not line.strip(WHITESPACE)


def is_comment_or_empty(line: str) -> bool:
    """Return whether the line belongs to the rule below it, and is dropped together with that rule."""
    return not line or is_comment(line)
