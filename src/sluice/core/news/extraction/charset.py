"""Decides the charset of a page as browsers do: byte order mark, Content-Type header, declaration, then UTF-8."""

import codecs
import re
from typing import Final

# Browsers do not look further either.
_DECLARATION_BYTES: Final = 4096
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IN_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_IN_PAGE: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE
)
# Pages that name the smaller charset mean the larger one.
_WEB_NAMES: Final = {
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}


def decode(body: bytes, content_type: str = "") -> str:
    """Returns the text; a byte that cannot be decoded becomes a replacement character."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    named = _IN_HEADER.search(content_type)
    declared = _IN_PAGE.search(body[:_DECLARATION_BYTES])
    names = ((named[1] if named else ""), (declared[1].decode("ascii") if declared else ""))
    for codec in filter(None, map(_find_codec, names)):
        return _decode_as(body, codec)
    return _decode_as(body, "utf-8")


def _find_codec(name: str) -> str | None:
    """Returns Python's name of a charset; None for one that is unknown or that a page cannot have."""
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return None
    # A page whose declaration is readable as ASCII is not UTF-16. Codecs such as rot13 and zip are not charsets.
    if not codec._is_text_encoding or codec.name.startswith("utf-16") or codec.name.startswith("utf-32"):  # noqa: SLF001
        return "utf-8" if codec.name.startswith("utf-") else None
    return _WEB_NAMES.get(codec.name, codec.name)


def _decode_as(body: bytes, codec: str) -> str:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        pass
    # Wrong declarations are common. Text in another charset is practically never valid UTF-8.
    for other in ("utf-8", "cp1252"):
        if other != codec:
            try:
                return body.decode(other)
            except UnicodeDecodeError:
                continue
    return body.decode(codec, "replace")
