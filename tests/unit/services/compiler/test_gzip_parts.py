"""Two packed parts are one gzip file, whatever they hold."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from sluice.services.compiler.cache.gzip_parts import Deflated, deflate_head

# Longer than the piece of zeros that the checksum is made with.
CONTENT = st.one_of(
    st.binary(), st.builds(lambda part, times: part * times, st.binary(max_size=64), st.integers(0, 5000))
)


@given(CONTENT, CONTENT)
def test_head_and_rest_are_one_file(head: bytes, rest: bytes):
    """A reader of gzip sees the head followed by the rest; it checks the checksum and the size."""
    assert gzip.decompress(Deflated.compress(rest).with_head(head)) == head + rest


@given(CONTENT, CONTENT, CONTENT)
def test_head_is_exchanged(first: bytes, second: bytes, rest: bytes):
    """The rest is taken out of a file as it was put in, and fits any other head."""
    packed = Deflated.compress(rest)
    found = Deflated.from_gzip(packed.with_head(first), len(deflate_head(first)), crc=packed.crc, size=packed.size)
    assert found == packed
    assert gzip.decompress(found.with_head(second)) == second + rest
