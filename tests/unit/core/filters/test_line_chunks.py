"""Lines a few at a time."""

from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.syntax.line_chunks import MAX_CHARS, cut_chunks


@given(st.lists(st.integers(0, 3 * MAX_CHARS // 2), max_size=12), st.integers(1, 5))
def test_chunks_are_short(lengths: list[int], max_lines: int):
    """All lines are there in their order, a chunk never passes a multiple of its lines, and is short as a text."""
    lines = ["x" * length for length in lengths]
    chunks = list(cut_chunks(lines, max_lines))
    assert [line for chunk in chunks for line in chunk.lines] == lines
    assert [chunk.start for chunk in chunks] == [sum(len(c.lines) for c in chunks[:at]) for at in range(len(chunks))]
    for start, part in chunks:
        assert start // max_lines == (start + len(part) - 1) // max_lines
        assert len(part) == 1 or sum(map(len, part)) <= MAX_CHARS
