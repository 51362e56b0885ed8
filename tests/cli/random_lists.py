"""Random lists with names in any script, the same for the same seed."""

import random
import sys
import unicodedata
from collections.abc import Iterator
from typing import Final

# Where letters are, by script; `any` draws from all of Unicode.
SCRIPTS: Final = {
    "latin": (0x61, 0x17F),
    "greek": (0x370, 0x3FF),
    "cyrillic": (0x400, 0x4FF),
    "hebrew": (0x590, 0x5FF),
    "arabic": (0x600, 0x6FF),
    "devanagari": (0x900, 0x97F),
    "thai": (0xE00, 0xE7F),
    "georgian": (0x10A0, 0x10FF),
    "kana": (0x3040, 0x30FF),
    "han": (0x4E00, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "emoji": (0x1F300, 0x1F64F),
    "any": (0x80, sys.maxunicode),
}
SHAPES: Final = (
    "||{name}^",
    "@@||{name}^",
    "|{name}^$important",
    "||{name}^$third-party,domain=~{other}",
    "0.0.0.0 {name} {other}",
    "{name}",
    "*.{name}",
    "@@*.{name}",
    "://{name}^",
    "@@://{name}^",
    "||{name}/{label}?{label}=1",
    "/{label}[0-9]+/",
    "{name},{other}##.{label}",
    "! {label} {name}",
    "# {label}",
    "  ||{name}^ ",
    "||{name}",
    "",
)


def make_lists(seed: int, count: int) -> Iterator[list[str]]:
    """Yield so many lists."""
    draw = random.Random(seed)
    for _ in range(count):
        yield [*(_make_line(draw) for _ in range(draw.randint(1, 30))), "||ads.example.com^"]


def _make_line(draw: random.Random) -> str:
    return draw.choice(SHAPES).format(name=_make_name(draw), other=_make_name(draw), label=_make_label(draw))


def _make_name(draw: random.Random) -> str:
    labels = [_make_label(draw) for _ in range(draw.randint(1, 4))]
    return ".".join([*labels, draw.choice(["com", "de", "jp", "рф", "みんな", "co.uk", _make_label(draw)])])


def _make_label(draw: random.Random) -> str:
    first, last = SCRIPTS[draw.choice(list(SCRIPTS))]
    text = "".join(_draw_letter(draw, first, last) for _ in range(draw.randint(1, 8)))
    return draw.choice([text, text.upper(), unicodedata.normalize("NFD", text), f"a-{text}", f"{text}1"])


def _draw_letter(draw: random.Random, first: int, last: int) -> str:
    while True:
        letter = chr(draw.randint(first, last))
        if unicodedata.category(letter)[0] in "LMNS":
            return letter
