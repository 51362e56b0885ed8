"""Lists of our own that are as large, and as mixed, as the lists that a Worker warms by default."""

from typing import Final, NamedTuple

_LONG: Final = 5_000  # lines from one long line to the next
_LONG_BYTES: Final = 2_000


class MadeList(NamedTuple):
    """The measures of a real list; `wide` lines have characters beyond Latin-1, and one line an emoji if asked for."""

    name: str
    lines: int
    size: int
    wide: int
    has_emoji: bool
    line_end: str

    def write(self) -> bytes:
        """Return the text, in exactly these measures: network and cosmetic rules, short and long, and a few that are wide."""
        rows: list[str] = []
        left = self.size - self.lines * len(self.line_end)
        for at in range(self.lines):
            length = left if at == self.lines - 1 else _LONG_BYTES if at % _LONG == 7 else left // (self.lines - at)
            rows.append(self._write_line(at, length))
            left -= len(rows[-1].encode())
        return "".join(f"{row}{self.line_end}" for row in rows).encode()

    def _write_line(self, at: int, length: int) -> str:
        mark = "".join(letter for letter in self.name if letter.isupper()).lower()
        if self.has_emoji and at == self.lines // 2:
            return f"{mark}.example##.promo:has-text(\U0001f381)"
        if self.wide and at % (self.lines // self.wide) == 1:
            return f"пример{at}.example##.реклама"
        begin, end = (f"||{mark}{at}", ".com^") if at % 3 else (f"{mark}{at}.com##.a", "")
        return f"{begin}{'d' * (length - len(begin) - len(end))}{end}"


# The lists that are warmed by default.
DEFAULT_LISTS: Final = (
    MadeList("EasyList", 80_371, 2_111_674, 19, has_emoji=False, line_end="\n"),
    MadeList("EasyPrivacy", 56_307, 1_488_799, 0, has_emoji=False, line_end="\n"),
    MadeList("AdGuard Base", 157_479, 6_804_417, 96, has_emoji=True, line_end="\r\n"),
)
