"""One gzip file of two parts: a short head that differs from reply to reply, and a long rest that is stored once.

Both are deflated on their own, so a head is put before a stored rest, or exchanged for another, without unpacking the rest.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Final

_LEVEL: Final = 6
_RAW: Final = -zlib.MAX_WBITS
# No name, no time, unknown system: equal content gives equal bytes.
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_TRAILER_BYTES: Final = 8
_ZEROS: Final = bytes(1 << 16)


@dataclass(frozen=True, slots=True)
class Packed:
    """Deflated content, with the checksum and size of the plain one."""

    data: bytes
    crc: int
    size: int

    @classmethod
    def of(cls, content: bytes) -> "Packed":
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        return cls(deflate.compress(content) + deflate.flush(), zlib.crc32(content), len(content))

    @classmethod
    def in_gzip(cls, file: bytes, head_bytes: int, *, crc: int, size: int) -> "Packed":
        """The rest of a file that `with_head` made; `head_bytes` is what `packed_head` has."""
        return cls(file[len(_GZIP_HEADER) + head_bytes : -_TRAILER_BYTES], crc, size)

    def with_head(self, head: bytes) -> bytes:
        """A gzip file of the head followed by this content."""
        crc = _joined_crc(zlib.crc32(head), self.crc, self.size)
        trailer = struct.pack("<II", crc, (len(head) + self.size) & 0xFFFFFFFF)
        return b"".join((_GZIP_HEADER, packed_head(head), self.data, trailer))

    def gzip(self) -> bytes:
        """A gzip file of this content alone."""
        return self.with_head(b"")


def packed_head(head: bytes) -> bytes:
    """The head deflated so that another run can follow it."""
    if not head:
        return b""
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return deflate.compress(head) + deflate.flush(zlib.Z_FULL_FLUSH)


def _joined_crc(first: int, second: int, second_size: int) -> int:
    """The checksum of both contents in a row, from theirs alone: it is linear, so zeros stand in for the second."""
    return second ^ _crc_of_zeros(second_size, first) ^ _crc_of_zeros(second_size, 0)


def _crc_of_zeros(count: int, start: int) -> int:
    for _ in range(count // len(_ZEROS)):
        start = zlib.crc32(_ZEROS, start)
    return zlib.crc32(_ZEROS[: count % len(_ZEROS)], start)
