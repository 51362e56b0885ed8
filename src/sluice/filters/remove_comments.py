"""RemoveComments: whole-line comments go; a comment behind a rule stays."""

from typing import Final

from sluice.filters.lines import is_comment
from sluice.filters.traces import Removal, Transformation

REMOVE_COMMENTS: Final[Transformation] = Removal(is_comment, "comment")
