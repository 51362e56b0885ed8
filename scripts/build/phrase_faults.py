"""Finds what is wrong with one entry of a table of phrases, or with two; each fault is a sentence, and none is an empty text."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

_WILDCARDS: Final = "$#%_"
_ESCAPED: Final = re.compile(r"\\.|\(\?P")
_FLAGS: Final = re.compile(r"\(\?[aiLmsux-]+[:)]")
_MIN_STEM: Final = 3  # stems are looked up by so many letters

STRONG_KINDS: Final = ("good", "bad")
KINDS: Final = (
    *("up", "down", "high", "low", *STRONG_KINDS, "undo", "relieve", "negation", "burden", "asset", "bitcoin", "other"),
    *("adversary", "criminal", "caught", "nothing"),
)
# What undoes everything undoes bad things too, and what means nothing means nothing else.
_OPPOSITE_KINDS: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        *("up/down", "high/low", "good/bad", "up/bad", "down/good", "up/low", "down/high"),
        *("burden/asset", "burden/good", "asset/bad", "bitcoin/other", "bitcoin/adversary", "undo/relieve"),
    )
) | {frozenset({"nothing", kind}) for kind in KINDS if kind != "nothing"}
_OPPOSITE_USES: Final = frozenset({("up", "fall"), ("down", "rise"), ("high", "fall"), ("low", "rise")})
NO_ACT: Final = "no act"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table."""

    file: str
    line: int
    section: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of headlines, its kinds with their strengths, and its acts."""

    text: str
    kinds: dict[str, float]
    acts: tuple[str, ...]
    entry: Entry = field(compare=False)


def find_form_fault(entry: Entry, columns: int, *, has_sections: bool) -> str:
    if has_sections and not entry.section:
        return "an entry before the first section"
    if columns and len(entry.columns) != columns:
        return f"{len(entry.columns)} columns instead of {columns}"
    if any(not column or column != " ".join(column.split()) for column in entry.columns):
        return "an empty column, or spaces too many"
    return ""


def find_word_fault(word: str, *allowed: str) -> str:
    """Return what is wrong with an entry of one word, in a table that is compared in small letters."""
    if word != word.lower():
        return f"“{word}” has a capital, and is compared in small letters"
    if "," in word:
        return f"“{word}” has a comma"
    return f"“{word}” are several words" if " " in word and " " not in allowed else ""


def find_pattern_fault(pattern: str, *, may_have_capitals: bool = False) -> str:
    """Return what is wrong with a regular expression that becomes one alternative of many."""
    if reason := _find_expression_fault(pattern, may_have_capitals=may_have_capitals):
        return reason
    return "a group that captures: write (?:…)" if re.compile(pattern).groups else ""


def find_replacement_fault(pattern: str, new: str) -> str:
    """Return what is wrong with a regular expression, or with what takes the place of what it matches."""
    if reason := _find_expression_fault(pattern, may_have_capitals=False) or find_word_fault(new.replace(",", ""), " "):
        return reason
    try:
        re.sub(pattern, new, "")
    except (re.error, IndexError) as error:
        return f"“{new}”: {error}"
    return ""


def _find_expression_fault(pattern: str, *, may_have_capitals: bool) -> str:
    try:
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"no regular expression: {error}"
    plain = _ESCAPED.sub("", pattern)
    if flags := _FLAGS.search(plain):
        return f"“{flags[0]}” sets flags, and the table has its own"
    if not may_have_capitals and plain != plain.lower():
        return f"“{pattern}” has a capital, and is compared in small letters"
    return "the pattern fits an empty text" if found.fullmatch("") else ""


def find_kind_fault(kind: str, strength: str, known: Collection[str]) -> str:
    if kind not in KINDS:
        return f"there is no kind “{kind}”"
    if kind in known:
        return f"two strengths, or twice the kind “{kind}”"
    if kind not in STRONG_KINDS:
        return f"“{kind}” has no strength" if strength else ""
    return (
        "" if re.fullmatch(r"\d(\.\d+)?", strength) and float(strength) else f"“{kind}” without a strength above zero"
    )


def find_wildcard_fault(text: str, forbidden: str) -> str:
    first, *_ = words = text.split(" ")
    if text != text.lower() or "," in text:
        return f"“{text}” has a capital or a comma"
    for word in words:
        if word in _WILDCARDS and (word is first or word in forbidden):
            return f"“{word}” cannot stand here in “{text}”"
        if "*" in word.removesuffix("*") or (word not in _WILDCARDS and re.search(r"[#_$]|(?<!\d)%", word)):
            return f"a wildcard within the word “{word}”"
    if first.endswith("*") and len(first) <= _MIN_STEM:
        return f"the stem “{first}” is shorter than {_MIN_STEM} letters"
    return ""


def find_contradiction(kinds: Collection[str], acts: Collection[str], excluded: Collection[frozenset[str]]) -> str:
    for pairs, uses in ((_OPPOSITE_KINDS, kinds), (excluded, acts)):
        for pair in pairs:
            if len(pair) > 1 and pair <= {*uses}:
                return f"cannot be both “{'” and “'.join(sorted(pair))}”"
    if NO_ACT in acts and len(acts) > 1:
        return "is an act and none"
    return next(
        (
            f"is “{kind}” for the sentiment and “{act}” for the stories"
            for kind, act in sorted(_OPPOSITE_USES)
            if kind in kinds and act in acts
        ),
        "",
    )


def describe_repetition(phrase: Phrase, first: Entry, earlier: Phrase) -> str:
    for kind in phrase.kinds.keys() & earlier.kinds.keys():
        ours, theirs = phrase.kinds[kind], earlier.kinds[kind]
        if ours != theirs:
            return f"“{phrase.text}” has the strength {ours:g} here and {theirs:g} in line {first.line}"
    if phrase == earlier:
        return f"“{phrase.text}” stands in line {first.line} already"
    if reason := find_contradiction({*phrase.kinds, *earlier.kinds}, (*phrase.acts, *earlier.acts), ()):
        return f"with line {first.line} “{phrase.text}” {reason}"
    return f"“{phrase.text}” stands in line {first.line} too: write all that it says there"
