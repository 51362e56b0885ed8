"""What the web means by the name of a charset, in a header or in a declaration."""

import codecs
import re
from typing import Final

_IN_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]+)", re.IGNORECASE)
# Labels of the WHATWG's Encoding Standard that Python does not know.
_MORE_LABELS: Final = {
    **dict.fromkeys(("x-sjis", "windows-31j", "sjis-win", "x-ms-cp932"), "cp932"),
    **dict.fromkeys(("x-gbk", "gb_2312-80", "csiso58gb231280"), "gb18030"),
    **dict.fromkeys(("cn-big5", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("windows-949", "ksc_5601", "ksc5601"), "cp949"),
    **{f"x-cp{number}": f"cp{number}" for number in range(1250, 1259)},
    **dict.fromkeys(("x-euc-jp", "cseucpkdfmtjapanese"), "euc_jp"),
    **dict.fromkeys(("unicode-1-1-utf-8", "x-unicode20utf8", "unicode11utf8"), "utf-8"),
    **dict.fromkeys(("dos-874", "windows-874", "tis-620"), "cp874"),
    **dict.fromkeys(("koi", "koi8", "cskoi8r"), "koi8-r"),
    "x-mac-roman": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
}
# Texts that name the smaller charset mean the larger one.
_LARGER: Final = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "utf-8-sig": "utf-8",
}


def find_label(content_type: str) -> str | None:
    """Return the charset that a Content-Type names."""
    named = _IN_HEADER.search(content_type)
    return named[1] if named else None


def find_codec(label: str) -> str | None:
    """Return the Python codec that the web means by a label; None for an unknown one."""
    name = label.strip().lower()
    try:
        codec = codecs.lookup(_MORE_LABELS.get(name, name))
        # Codecs such as rot13 and zip are not charsets: they do not decode bytes to text.
        b"a".decode(codec.name, "replace")
    except (LookupError, UnicodeError):
        return None
    return _LARGER.get(codec.name, codec.name)
