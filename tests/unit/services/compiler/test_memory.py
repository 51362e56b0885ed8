"""How much memory a text is thought to need: as Python holds its lines, and not less."""

import sys

import pytest

from sluice.core.compiler.sources.line_splitting import PIECE_BYTES, split_lines
from sluice.core.errors import TooLarge
from sluice.services.compiler.limits.memory import (
    MAX_TEXT_BYTES,
    TextBudget,
    estimate_sent_bytes,
    estimate_text_bytes,
)
from workerd.made_lists import DEFAULT_LISTS, MadeList

RULE = "||ads.some-name.example^$third-party"
EMOJI = "\U0001f600"
TEXTS = {
    "ascii": f"{RULE}\n" * 50_000,
    "one emoji": f"{RULE}\n" * 50_000 + f"! {EMOJI}\n",
    "an emoji in 100 lines": (f"{RULE}\n" * 99 + f"! {EMOJI}\n") * 500,
    "Cyrillic comments": f"! Комментарий\n{RULE}\n" * 25_000,
    "Chinese": "! 广告过滤规则\n" * 50_000,
    "Latin-1": "! café\n" * 50_000,
    "CR LF": f"{RULE}\r\n" * 50_000 + f"! {EMOJI}\r\n",
    "CR": f"{RULE}\r" * 50_000 + f"! {EMOJI}\r",
    "BOM": f"\ufeff{RULE}\n" * 50_000,
    "long lines": ("x" * 5_000 + "\n") * 300 + f"{EMOJI}\n",
    "one line": "a" * 3_000_000 + EMOJI,
    "lines of emoji": f"{RULE}{EMOJI}\n" * 50_000,
}


def count_text_bytes(lines: list[str]) -> int:
    """Return the bytes of the characters of all lines, as Python holds them."""
    return sum(sys.getsizeof(line) - sys.getsizeof(line[:0] or "") for line in lines)


@pytest.mark.parametrize("kind", TEXTS)
def test_estimate_covers_the_lines(kind: str):
    """It is at least what the lines take, and as text and as bytes the same."""
    text = TEXTS[kind]
    lines = split_lines(text.encode())
    estimate = estimate_text_bytes(text.encode())
    assert estimate >= count_text_bytes(lines)
    assert estimate == estimate_text_bytes(text)


@pytest.mark.parametrize("kind", [kind for kind in TEXTS if kind != "one line"])
def test_only_wide_lines_are_wide(kind: str):
    """Beyond the lines' own size there is only a fixed amount for each line, wherever the wide characters stand."""
    text = TEXTS[kind]
    lines = split_lines(text)
    assert estimate_text_bytes(text) <= count_text_bytes(lines) + 80 * (len(lines) + 1)


def test_long_lines_count_more():
    """A line that is longer than a piece is copied as a whole on its way."""
    long = "a" * (4 * PIECE_BYTES)
    assert estimate_text_bytes(long.encode()) >= 3 * len(long)
    assert estimate_text_bytes((long + EMOJI).encode()) >= 12 * len(long)


def test_invalid_utf8():
    """A line that is not UTF-8 is read as Windows-1252, whose euro sign is beyond Latin-1."""
    body = b"! \x80 caf\xe9\n" * 10_000
    assert estimate_text_bytes(body) >= count_text_bytes(split_lines(body))


def test_sent_text_is_there_twice():
    """A text in a request is in memory as a whole: one emoji makes all of it wide."""
    text = f"{RULE}\n" * 1_000
    assert estimate_sent_bytes(text) == estimate_text_bytes(text)
    assert estimate_sent_bytes(text + EMOJI) > estimate_text_bytes(text) + 2.9 * len(text)


@pytest.mark.parametrize("made", DEFAULT_LISTS, ids=lambda made: made.name)
def test_default_lists_fit(made: MadeList):
    """The lists that are warmed by default fit, each with its one emoji and its lines in other letters."""
    text = made.write()
    assert (len(text), text.count(b"\n")) == (made.size, made.lines)
    TextBudget(MAX_TEXT_BYTES).take(estimate_text_bytes(text))


def test_budget_is_shared():
    """What the second text needs is added to the first; beyond the limit the caller has to split the list."""
    budget = TextBudget(1_000)
    budget.take(600)
    with pytest.raises(TooLarge, match="more than 1,000 bytes of memory"):
        budget.take(600)
