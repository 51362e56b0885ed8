"""The charsets of sources, and gzip that no header names."""

import gzip

import pytest

from sluice.core.compiler.sources.line_splitting import split_lines
from sluice.core.compiler.sources.source_errors import BadSource
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.errors import Oversized, Unavailable

TEXT = "! München\n||a.com^\n||пример.рф^"


def read(body: bytes, content_type: str | None = None) -> list[str]:
    return split_lines(to_utf8(body, content_type, max_bytes=1_000))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (TEXT.encode(), None),
        (TEXT.encode("utf-8-sig"), "text/plain"),
        (TEXT.encode(), "text/plain; charset=iso-8859-1"),
        (TEXT.encode(), "text/plain; charset=nonsense"),
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "text/plain; charset=utf-8"),
        (gzip.compress(TEXT.encode()), "text/plain"),
        (gzip.compress(TEXT.encode("utf-16")), None),
    ],
)
def test_encodings(body: bytes, content_type: str | None):
    """A text is read by its mark, as UTF-8 if it is that, and unpacked if it is gzip."""
    assert read(body, content_type) == TEXT.split("\n")


def test_other_charsets():
    """A declared charset is used where the text is not UTF-8; without one, lines that are not UTF-8 are Windows-1252."""
    assert read("||реклама.рф^".encode("cp1251"), 'text/plain; charset="windows-1251"') == ["||реклама.рф^"]
    assert read(b"! M\xfcnchen \x80\n||a.com^", "text/plain; charset=latin1") == ["! München €", "||a.com^"]
    assert read(b"! M\xfcnchen\n" + "||пример.рф^".encode()) == ["! München", "||пример.рф^"]
    assert read("||a.com^\n||b.com^".encode("utf-16-le")) == ["||a.com^", "||b.com^"]
    assert read("||a.com^\n||b.com^".encode("utf-16-be")) == ["||a.com^", "||b.com^"]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "shift_jis", "gb18030"])
def test_long_texts(codec: str):
    """A long text is converted a part at a time, and no character is lost where two parts meet."""
    lines = [f"! {'x' * (number % 7)}広告{number}" for number in range(60_000)]
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(codec, b"")
    if codec in {"gb18030", "utf-16-le", "utf-16-be"}:
        lines[::1000] = ["! \U0001f600"] * 60
    body = mark + "\n".join(lines).encode(codec)
    assert split_lines(to_utf8(body, f"text/plain; charset={codec}", max_bytes=10_000_000)) == lines


@pytest.mark.parametrize("charset", ["idna", "undefined", "hex", "zlib", "rot13"])
def test_charsets_that_are_none(charset: str):
    """What Python calls a codec and no page is written in is ignored, as an unknown charset is."""
    assert read(b"! M\xfcnchen", f"text/plain; charset={charset}") == ["! München"]


def test_broken_gzip():
    """A truncated, a broken and a far too large gzip file have failed."""
    whole = gzip.compress(TEXT.encode() * 3)
    with pytest.raises(Unavailable, match="incomplete"):
        to_utf8(whole[:-9], None, max_bytes=1_000)
    with pytest.raises(BadSource, match="broken"):
        to_utf8(whole[:20] + b"xxxxxxxxxxxxxxxxxx", None, max_bytes=1_000)
    with pytest.raises(Oversized):
        to_utf8(gzip.compress(bytes(5_000)), None, max_bytes=1_000)
