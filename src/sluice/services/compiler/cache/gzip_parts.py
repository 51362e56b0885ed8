"""The gzip of cached lists: a short head that differs from reply to reply, and a long body that is stored once.

Both parts are deflated separately, so a head is put before a stored body, or replaced, without inflating the body.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

CHUNK_BYTES: Final = 256 * 1024
_LEVEL: Final = 6
_RAW: Final = -zlib.MAX_WBITS
# No file name, no time, unknown system: equal content gives equal bytes.
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_TRAILER_BYTES: Final = 8
_ZEROS: Final = bytes(1 << 16)


@dataclass(frozen=True, slots=True)
class Deflated:
    """Deflated content, with the checksum and the size of the plain content."""

    data: bytes
    crc: int
    size: int

    @classmethod
    def compress(cls, chunks: Iterable[bytes]) -> "Deflated":
        """Compress content that comes in chunks, so that it need not be in memory as a whole."""
        deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
        parts, crc, size = [], 0, 0
        for chunk in chunks:
            parts.append(deflate.compress(chunk))
            crc, size = zlib.crc32(chunk, crc), size + len(chunk)
        return cls(b"".join((*parts, deflate.flush())), crc, size)

    @classmethod
    def from_gzip(cls, file: bytes, head_bytes: int, *, crc: int, size: int) -> "Deflated":
        """Return the body of a file that `with_head` made; `head_bytes` is the length of its `deflate_head`."""
        return cls(file[len(_GZIP_HEADER) + head_bytes : -_TRAILER_BYTES], crc, size)

    def with_head(self, head: bytes) -> bytes:
        """Return a gzip file of the head followed by this content."""
        crc = _combine_crcs(zlib.crc32(head), self.crc, self.size)
        trailer = struct.pack("<II", crc, (len(head) + self.size) & 0xFFFFFFFF)
        return b"".join((_GZIP_HEADER, deflate_head(head), self.data, trailer))

    def gzip(self) -> bytes:
        """Return a gzip file of this content alone."""
        return self.with_head(b"")

    def inflate(self) -> bytes:
        """Return the plain content."""
        return zlib.decompress(self.data, wbits=_RAW, bufsize=self.size or 1)

    def inflate_chunks(self) -> Iterator[bytes]:
        """Yield the plain content in chunks."""
        return _inflate_chunks(self.data, _RAW)


def inflate_gzip(file: bytes) -> Iterator[bytes]:
    """Yield the plain content of a gzip file in chunks."""
    return _inflate_chunks(file, zlib.MAX_WBITS | 16)


def _inflate_chunks(data: bytes, wbits: int) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits)
    while not inflate.eof:
        yield inflate.decompress(data, CHUNK_BYTES)
        data = inflate.unconsumed_tail


def deflate_head(head: bytes) -> bytes:
    """Deflate a head so that a body can follow it in the same stream."""
    if not head:
        return b""
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return deflate.compress(head) + deflate.flush(zlib.Z_FULL_FLUSH)


def _combine_crcs(first: int, second: int, second_size: int) -> int:
    """Return the checksum of both contents in a row. CRC is linear, so zeros can stand in for the second content."""
    return second ^ _crc_of_zeros(second_size, first) ^ _crc_of_zeros(second_size, 0)


def _crc_of_zeros(count: int, start: int) -> int:
    for _ in range(count // len(_ZEROS)):
        start = zlib.crc32(_ZEROS, start)
    return zlib.crc32(_ZEROS[: count % len(_ZEROS)], start)
