"""Bytes of a page into text, the way browsers decide it: mark, header, declaration, then UTF-8 if it fits."""

import codecs
import re
from typing import Final

# Browsers look no further either.
_DECLARATION_BYTES: Final = 4096
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IN_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_IN_PAGE: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE
)
# The web means the larger set when it names the smaller.
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
    """The text; a byte that fits nowhere becomes a replacement character, never an error."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    named = _IN_HEADER.search(content_type)
    declared = _IN_PAGE.search(body[:_DECLARATION_BYTES])
    names = ((named[1] if named else ""), (declared[1].decode("ascii") if declared else ""))
    for codec in filter(None, map(_codec, names)):
        return _decoded(body, codec)
    return _decoded(body, "utf-8")


def _codec(name: str) -> str | None:
    """Python's name of a text encoding; None for one it does not know, or that a page cannot be in."""
    try:
        found = codecs.lookup(name)
    except LookupError:
        return None
    # Declared inside the page in ASCII, it cannot be UTF-16; and rot13 or zip are no encodings of text.
    if not found._is_text_encoding or found.name.startswith("utf-16") or found.name.startswith("utf-32"):  # noqa: SLF001
        return "utf-8" if found.name.startswith("utf-") else None
    return _WEB_NAMES.get(found.name, found.name)


def _decoded(body: bytes, codec: str) -> str:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        pass
    # A wrong declaration is common: whatever is valid UTF-8 by chance alone does not happen.
    for other in ("utf-8", "cp1252"):
        if other != codec:
            try:
                return body.decode(other)
            except UnicodeDecodeError:
                continue
    return body.decode(codec, "replace")
