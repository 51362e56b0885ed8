"""RemoveModifiers: removes modifiers that have no meaning for DNS, and trims lines."""

from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE, is_comment
from sluice.core.filters.syntax.rules import find_only_modifier, modifier_name, parse_rule
from sluice.core.filters.transformations.drop_reasons import TransformationTrace
from sluice.core.filters.transformations.transformation import Transformation

_REMOVED: Final = frozenset({"third-party", "3p", "all", "document", "doc", "popup", "network"})


def _remove_modifiers(line: str) -> str:
    text = line.strip(WHITESPACE)
    if is_comment(text):
        return text
    only = find_only_modifier(text)
    if only and only not in _REMOVED:
        return text
    rule = parse_rule(text)
    if rule is None:
        return text
    kept = [modifier for modifier in rule.modifiers if modifier_name(modifier) not in _REMOVED]
    return rule._replace(modifiers=kept).format()


class _RemoveModifiers:
    def apply(self, lines: list[str]) -> list[str]:
        return [_remove_modifiers(line) if "$" in line else line.strip(WHITESPACE) for line in lines]

    def trace(self, lines: list[str]) -> TransformationTrace:
        return TransformationTrace(self.apply(lines), range(len(lines)), [])


REMOVE_MODIFIERS: Final[Transformation] = _RemoveModifiers()
