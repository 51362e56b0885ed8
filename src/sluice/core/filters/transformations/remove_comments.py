"""RemoveComments: drops whole-line comments; a comment after a rule stays."""

from typing import Final

from sluice.core.filters.syntax.lines import is_comment
from sluice.core.filters.transformations.transformation import Removal, Transformation


class _RemoveComments(Removal):
    def apply(self, lines: list[str]) -> list[str]:
        # Comments begin with "!" or "#", and nearly every other line sorts behind them, which is faster to check.
        return [line for line in lines if line >= "$" or not is_comment(line)]


REMOVE_COMMENTS: Final[Transformation] = _RemoveComments(is_comment, "comment")
