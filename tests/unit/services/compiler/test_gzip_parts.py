"""Two deflated parts are one gzip file, whatever they hold."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from sluice.services.compiler.cache.gzip_parts import Deflated, deflate_head

# Longer than the piece of zeros that the checksum is computed with.
CONTENT = st.one_of(
    st.binary(), st.builds(lambda part, times: part * times, st.binary(max_size=64), st.integers(0, 5000))
)


@given(CONTENT, CONTENT)
def test_head_and_body_are_one_file(head: bytes, content: bytes):
    """A gzip reader sees the head followed by the body; it checks the checksum and the size."""
    assert gzip.decompress(Deflated.compress([content]).with_head(head)) == head + content


@given(CONTENT, CONTENT, CONTENT)
def test_head_is_replaced(first: bytes, second: bytes, content: bytes):
    """The body is read from a file as it was stored, and fits any other head."""
    deflated = Deflated.compress([content])
    body = Deflated.from_gzip(deflated.with_head(first), len(deflate_head(first)), crc=deflated.crc, size=deflated.size)
    assert body == deflated
    assert gzip.decompress(body.with_head(second)) == second + content
