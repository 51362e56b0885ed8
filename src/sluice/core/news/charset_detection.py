"""Decides the charset of a feed or page: byte order mark, valid UTF-8, HTTP header, declaration, then a guess."""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from sluice.core.charsets import find_codec, find_label

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# "<" or "{" in UTF-16 without a mark.
_BARE_UTF16: Final = {b"<\x00": "utf-16-le", b"{\x00": "utf-16-le", b"\x00<": "utf-16-be", b"\x00{": "utf-16-be"}
_DECLARATION_BYTES: Final = 4096  # browsers do not look further either
_IN_BODY: Final = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE
)
_WEB_NAMES: Final = {
    "big5hkscs": "big5",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
}
# Python's codec refuses the five bytes that Windows-1252 leaves open; browsers read them as control characters.
_CP1252: Final = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
# Charsets with letters in two bytes of ASCII after an escape.
_STATEFUL: Final = frozenset({"iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr", "hz"})
_ESCAPE_JP: Final = re.compile(rb"\x1b\$[@B]")
_BAD: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A decoded text and its charset. `charset` is the web's name. `is_as_declared` is false if another was declared or bytes were replaced."""

    text: str
    charset: str
    is_as_declared: bool = True


def decode_text(body: bytes, content_type: str = "") -> DecodedText:
    """Decode any bytes; a byte that cannot be decoded becomes a replacement character."""
    labels = _find_labels(body, content_type)
    declared = [find_codec(label) for label in labels]
    codec = _find_codec_by_bytes(body)
    if codec is not None:
        text = body.decode(codec, "replace").removeprefix("\ufeff")
    else:
        codec, text = _decode_as_declared([name for name in declared if name], body)
    expected = declared or ["utf-8"]
    agrees = expected[0] == codec or body.isascii() or (codec.startswith("utf-16") and expected[0] == "utf-16")
    return DecodedText(text, name_charset(codec), agrees and _BAD not in text)


def name_charset(codec: str) -> str:
    """Return the web's name of a Python codec."""
    return _WEB_NAMES.get(codec, f"windows-{codec[2:]}" if codec.startswith("cp125") else codec.replace("_", "-"))


def _find_labels(body: bytes, content_type: str) -> list[str]:
    """Return what the header and the declaration say, in this order."""
    named = find_label(content_type)
    # In UTF-16 every second byte of the declaration is zero.
    declared = _IN_BODY.search(body[:_DECLARATION_BYTES].replace(b"\x00", b""))
    return [*([named] if named else []), *([declared[1].decode("ascii")] if declared else [])]


def _find_codec_by_bytes(body: bytes) -> str | None:
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return codec
    if len(body) >= 4 and (bare := _BARE_UTF16.get(body[:2])) and body[2:4].count(0) == 1:
        return bare
    if not body.isascii() and _decode(body, "utf-8") is not None:
        return "utf-8"
    return None


def _decode_as_declared(declared: list[str], body: bytes) -> tuple[str, str]:
    if body.isascii():
        codec = next((name for name in declared if name in _STATEFUL), "iso2022_jp" if _ESCAPE_JP.search(body) else "")
        return (codec, body.decode(codec, "replace")) if codec else ((*declared, "utf-8")[0], body.decode())
    if _is_nearly_utf8(body):
        return "utf-8", body.decode("utf-8", "replace")
    for codec in declared:
        # Declared as ASCII in every second byte, which was readable: it cannot be UTF-16.
        if not codec.startswith("utf-") and (text := _decode(body, codec)) is not None:
            return codec, text
    # Only for texts that declare nothing or something wrong.
    from sluice.core.news.charset_guess import guess_codec  # noqa: PLC0415 - rare

    guess = guess_codec(body)
    codec = find_codec(guess) or guess
    wrong = next((name for name in declared if not name.startswith("utf-")), "")
    if wrong and codec == "cp1252":
        codec = wrong
    return codec, _decode(body, codec) or body.decode(codec, "replace")


def _is_nearly_utf8(body: bytes) -> bool:
    """Return whether a few bytes are wrong and the others are UTF-8 beyond ASCII."""
    text = body.decode("utf-8", "replace")
    wrong = text.count(_BAD)
    return wrong < len(text.encode("ascii", "ignore")) and wrong <= sum(1 for char in text if char > "\x7f") - wrong


def _decode(body: bytes, codec: str) -> str | None:
    if codec == "cp1252":
        return codecs.charmap_decode(body, "strict", _CP1252)[0]
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None
