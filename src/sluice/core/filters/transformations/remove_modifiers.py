"""RemoveModifiers: modifiers that mean nothing to DNS go, and lines are trimmed."""

from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE, is_comment
from sluice.core.filters.syntax.rules import modifier_name, only_modifier, parse
from sluice.core.filters.transformations.transformation import Rewrite, Transformation

_REMOVED: Final = frozenset({"third-party", "3p", "all", "document", "doc", "popup", "network"})


def _without_modifiers(line: str) -> str:
    text = line.strip(WHITESPACE)
    if "$" not in text or is_comment(text):
        return text
    only = only_modifier(text)
    if only and only not in _REMOVED:
        return text
    rule = parse(text)
    if rule is None:
        return text
    kept = [modifier for modifier in rule.modifiers if modifier_name(modifier) not in _REMOVED]
    return rule._replace(modifiers=kept).text()


REMOVE_MODIFIERS: Final[Transformation] = Rewrite(_without_modifiers)
