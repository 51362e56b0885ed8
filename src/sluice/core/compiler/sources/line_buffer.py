"""Lines together with their origins, handed from stage to stage."""

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
