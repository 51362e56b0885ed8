"""Turns the HTML and the addresses inside feeds into plain text and absolute links."""

import re
from html import unescape
from html.entities import html5
from typing import Final
from urllib.parse import urljoin

MAX_TITLE_CHARS: Final = 500
REFERENCE: Final = re.compile(r"&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,30}));")
# Real tags only: "BTC < $90K" and "x<y" are text.
_TAG: Final = re.compile(
    r"</?(?:a|abbr|article|aside|b|big|blockquote|br|center|cite|code|dd|del|div|dl|dt|em|figcaption|figure|font|h[1-6]|"
    r"hr|i|iframe|img|ins|kbd|li|main|mark|ol|p|pre|q|s|section|small|span|strike|strong|sub|sup|table|tbody|td|th|thead|"
    r"time|tr|tt|u|ul|video|wbr)(?=[\s/>])[^<>]{0,2000}>",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"</?(?:br|dd|div|dt|h[1-6]|hr|li|p|pre|td|th|tr|blockquote|img|section)\b", re.IGNORECASE)
# Up to its end, or to the end of the text: so every character is visited once.
_HIDDEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<script\b.*?(?:</script\s*>|\Z)|<style\b.*?(?:</style\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_MAX_CHARS: Final = 20_000
# References such as &#146; mean Windows-1252.
_CONTROLS: Final = {
    code: bytes([code]).decode("cp1252", "replace").replace("\ufffd", " ") for code in range(0x80, 0xA0)
} | dict.fromkeys([*range(9), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F], " ")
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad\u200e\u200f"))
_SPACES: Final = re.compile(r"[\s\x00-\x20]+")


def fold_text(text: str) -> str:
    """Return the text on one line, without characters that nobody sees."""
    return " ".join(text.translate(_CONTROLS).translate(_INVISIBLE).split())


def plain_text(html: str) -> str:
    """Return the text of the first characters of HTML that may be escaped twice, on one line; a lone < stays."""
    text = _HIDDEN.sub(" ", html[:_MAX_CHARS])
    for _ in range(2):
        text = REFERENCE.sub(resolve_reference, _TAG.sub(_replace_tag, text))
    return fold_text(_TAG.sub(_replace_tag, text))


def resolve_reference(found: "re.Match[str]") -> str:
    """Return the character of a reference; an unknown name stays as written, one without a character is a space."""
    if found[1]:
        return unescape(found[0]).replace("\ufffd", " ") or " "
    return html5.get(f"{found[2]};", found[0])


def cut_title(text: str) -> str:
    return text if len(text) <= MAX_TITLE_CHARS else text[: MAX_TITLE_CHARS - 1].rstrip() + "…"


def resolve_link(base: str, link: str) -> str:
    """Return the absolute address; "" for an empty or a malformed one."""
    address = _SPACES.sub("", link.replace("&amp;", "&"))
    try:
        return urljoin(base, address) if address else ""
    except ValueError:
        return ""


def _replace_tag(found: "re.Match[str]") -> str:
    return " " if _BLOCK.match(found[0]) else ""
