"""Decoding a source and splitting it into lines."""

import re
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.sources.line_splitting import (
    PIECE_BYTES,
    count_lines,
    cut_pieces,
    flatten_to_one_line,
    number_lines,
    split_lines,
)
from sluice.core.filters.syntax.lines import WHITESPACE

# Line breaks of all kinds, white space, and some letters.
TEXTS = st.text(alphabet=st.sampled_from("ab\r\n \t\u00a0\u2028\u0085\ufeff"), max_size=40)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb", ["a", "b"]),
        ("\n\n a \n\n\n b \n\n", ["a ", " b"]),
        ("a\n  \nb", ["a", "  ", "b"]),
        ("\u00a0a\u00a0", ["a"]),
        ("a\u2028b\u0085c\vd", ["a\u2028b\u0085c\vd"]),
        ("", [""]),
        (" \n\t\r\n", [""]),
        ("a\0b\nc", ["a\0b", "c"]),
    ],
)
def test_split(text: str, lines: list[str]):
    """The text is trimmed as a whole, empty lines are dropped, lines keep their spaces, an empty text is one line."""
    assert split_lines(text) == lines


@given(TEXTS)
def test_every_line_has_its_number(text: str):
    """The number of a line is its line number in the text, as editors count."""
    rows = re.split(r"\r\n|\r|\n", text)
    lines = split_lines(text)
    numbers = number_lines(text)
    assert len(numbers) == len(lines)
    assert list(numbers) == sorted(set(numbers))
    assert all(line in rows[number - 1] for line, number in zip(lines, numbers, strict=True))


@given(TEXTS)
def test_bytes_and_text_agree(text: str):
    """A source has the same lines as bytes and as text, and not more than were counted."""
    assert split_lines(text) == split_lines(text.encode()) == re.split(r"[\r\n]+", text.strip(WHITESPACE))
    assert len(split_lines(text)) <= count_lines(text) == count_lines(text.encode())


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\n\n", "\r\r\n"])
def test_pieces_end_at_lines(line_end: str):
    """Whatever ends a line, no piece is much longer than the longest line beyond its size, and a line break stays whole."""
    body = line_end.join(f"||{'x' * (number % 37)}{number}^" for number in range(40_000)).encode()
    pieces = [piece for piece in cut_pieces(body) if isinstance(piece, bytes)]
    assert b"".join(pieces) == body
    assert len(pieces) > 2
    assert max(map(len, pieces)) < PIECE_BYTES + 60
    assert all(piece.endswith((b"\r", b"\n")) for piece in pieces[:-1])
    assert not any(one.endswith(b"\r") and other.startswith(b"\n") for one, other in pairwise(pieces))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_pieces_of_a_text(line_end: str):
    """A text of the caller is cut like the same bytes; a line that is not wide does not stay so because another one is."""
    lines = [f"||{number}.example^" for number in range(60_000)]
    lines[30_000] = "! \U0001f600"
    text = line_end.join(lines)
    assert split_lines(text) == split_lines(text.encode()) == lines
    narrow = split_lines(line_end.join(lines[:30_000] + lines[30_001:]))
    sizes = sum(map(sys.getsizeof, split_lines(text))) - sum(map(sys.getsizeof, narrow))
    assert sizes == sys.getsizeof("! \U0001f600")


def test_one_long_line():
    """A line that is longer than a piece is a piece."""
    long = f"||{'a' * 3 * PIECE_BYTES}\U0001f600^"
    assert split_lines(f"! first\n{long}\n! last".encode()) == ["! first", long, "! last"]
    assert split_lines(long.encode()) == [long]


def test_long_sources():
    """A source that is decoded in many chunks loses nothing at their borders."""
    lines = [f"||{'ä' * (number % 50)}\U0001f600{number}^" for number in range(50_000)]
    assert split_lines("\r\n".join(lines).encode()) == lines
    assert split_lines("\r".join(lines).encode()) == lines
    assert list(number_lines("\n\n".join(lines).encode())) == list(range(1, 100_000, 2))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"\xef\xbb\xbfa", ["a"]),
        ("\ufeffa", ["a"]),
        (b"caf\xe9\n\xc3\xa9", ["caf\xe9", "\xe9"]),
        (b"a\xe2\x82\nb", ["a\xe2\u201a", "b"]),
        (b"\xed\xa0\x81", ["\xed\xa0\ufffd"]),
        ("a\ud800b", ["a\ufffdb"]),
        ("\U0001f600", ["\U0001f600"]),
    ],
)
def test_characters(body: bytes | str, lines: list[str]):
    """A byte order mark is removed, and a line of invalid UTF-8 is Windows-1252, so that every line can be encoded."""
    assert split_lines(body) == lines


def test_one_line():
    """A line break in a title becomes a space; otherwise the text after it would be a rule."""
    assert flatten_to_one_line("a\r\n||b^\nc\ud800") == "a ||b^ c\ufffd"
