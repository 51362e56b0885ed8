"""Lines together with their origins, handed from stage to stage."""

from collections.abc import Sequence

from sluice.core.compiler.sources.line_origins import LineOrigins


class LineBuffer:
    """Lines, and where they come from if the report asks for it."""

    def __init__(self, lines: list[str], origins: LineOrigins | None = None) -> None:
        self.lines = lines
        self.origins = origins

    def take(self) -> list[str]:
        """Hand the lines over and forget them, so that the new owner can free them as early as possible."""
        lines, self.lines = self.lines, []
        return lines

    def insert_at_end(self, lines: Sequence[str]) -> None:
        """Add generated lines, before an empty last line, which is the final line feed."""
        at = len(self.lines) - 1 if self.lines and not self.lines[-1] else len(self.lines)
        self.lines[at:at] = lines
        if self.origins is not None:
            self.origins.insert_generated(at, len(lines))
