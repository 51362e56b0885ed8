"""RemoveComments: drops whole-line comments; a comment after a rule stays."""

from typing import Final

from sluice.core.filters.syntax.lines import is_comment
from sluice.core.filters.transformations.transformation import Removal, Transformation

REMOVE_COMMENTS: Final[Transformation] = Removal(is_comment, "comment", starts=("!", "#"))
