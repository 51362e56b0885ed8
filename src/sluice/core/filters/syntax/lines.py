"""What a line is before anyone reads it as a rule: comment, blank or text."""

from typing import Final

# What JavaScript calls white space; Python's own set has U+001C to U+001F and U+0085 more, and the BOM less.
WHITESPACE: Final = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

_COMMENT_STARTS: Final = ("!", "# ", "####")

# A line that starts otherwise is no heading, which is told more quickly than what it is.
HEADING_STARTS: Final = frozenset({"", "!", "#"})


def is_comment(line: str) -> bool:
    """`#ad`, `##.ad` and `###ad` are rules, and so is an indented `!`."""
    return line.startswith(_COMMENT_STARTS) or line == "#"


def is_blank(line: str) -> bool:
    return not line.strip(WHITESPACE)


def is_heading(line: str) -> bool:
    """A comment or an empty line: it belongs to the rule below it and goes with that rule."""
    return not line or is_comment(line)
