"""Turns the bytes of a download into UTF-8: unpacks unlabelled gzip, and decodes other charsets."""

import codecs
import zlib
from collections.abc import Iterator
from typing import Final

from sluice.core.compiler.sources.source_errors import BadSource
from sluice.core.errors import Oversized, Unavailable

_GZIP: Final = b"\x1f\x8b\x08"
_UTF16: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT_BYTES: Final = 1_000
_LEAST_UTF16_BYTES: Final = 8
_CHUNK_BYTES: Final = 262_144


def to_utf8(body: bytes, content_type: str | None, *, max_bytes: int) -> bytes:
    """Return the body in UTF-8; lines that are neither that nor of a declared charset stay as they are."""
    if body.startswith(_GZIP):
        body = _unpack(body, max_bytes)
    codec = _find_utf16(body) or (None if _is_utf8(body) else _find_declared(content_type))
    return body if codec is None else b"".join(_convert(body, codec))


def decode_line(line: bytes) -> str:
    """Decode a line in UTF-8, or in Windows-1252 if it is not that."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def _unpack(body: bytes, max_bytes: int) -> bytes:
    unzip = zlib.decompressobj(wbits=31)
    try:
        text = unzip.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise BadSource(f"it is a broken gzip file: {error}") from error
    if len(text) > max_bytes:
        raise Oversized(f"it is larger than {max_bytes:,} bytes when unpacked")
    if not unzip.eof:
        raise Unavailable("the download is incomplete: its gzip file ends too early")
    return text


def _find_utf16(body: bytes) -> str | None:
    """Recognise UTF-16 by its mark, or by the zero in every second byte of Latin text."""
    for mark, codec in _UTF16:
        if body.startswith(mark):
            return codec
    head = body[:_LOOKED_AT_BYTES]
    if _has_zeros_only_at(head, 1):
        return "utf-16-le"
    return "utf-16-be" if _has_zeros_only_at(head, 0) else None


def _has_zeros_only_at(head: bytes, start: int) -> bool:
    """Return whether nine of ten bytes at every second place are zero, and none of the others."""
    zeros, others = head[start::2], head[1 - start :: 2]
    return len(head) >= _LEAST_UTF16_BYTES and zeros.count(0) * 10 >= len(zeros) * 9 and 0 not in others


def _is_utf8(body: bytes) -> bool:
    """Check a part at a time, because a decoded text takes up to four times as much memory."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _CHUNK_BYTES):
            decoder.decode(body[start : start + _CHUNK_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _find_declared(content_type: str | None) -> str | None:
    """Return the charset of a body that is not UTF-8; None if none is named, or one that no page is written in."""
    from sluice.core.charsets import find_codec, find_label  # noqa: PLC0415 - rare

    label = find_label(content_type or "")
    codec = find_codec(label) if label else None
    try:
        codecs.getincrementaldecoder(codec or "utf-8")
    except LookupError:
        return None
    return None if codec == "utf-8" else codec


def _convert(body: bytes, codec: str) -> Iterator[bytes]:
    """Yield the body in UTF-8, a part at a time for the same reason."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for start in range(0, len(body), _CHUNK_BYTES):
        end = start + _CHUNK_BYTES
        text = decoder.decode(body[start:end], final=end >= len(body))
        yield (text if start else text.removeprefix("\ufeff")).encode("utf-8", "replace")
