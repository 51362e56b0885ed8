"""The build of the tables of phrases refuses what contradicts itself, and says where."""

import codecs
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from phrase_files import NEWS
from phrase_tables import BadTables
from phrases import FEW, build_modules, write_modules


@pytest.fixture(name="news")
def _news(tmp_path: Path) -> Path:
    """A copy of the tables."""
    shutil.copytree(NEWS / "phrases", tmp_path / "phrases")
    return tmp_path


def plant(news: Path, file: str, line: str) -> int:
    """Add a line at the end of a table, and return its number."""
    path = news / "phrases" / file
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}{line}\n", encoding="utf-8")
    return text.count("\n") + 1


def plant_in(news: Path, file: str, section: str, line: str) -> int:
    """Add a line at the beginning of a section, and return its number."""
    return replace(news, file, f"[{section}]\n", f"[{section}]\n{line}\n") + 1


def replace(news: Path, file: str, old: str, new: str) -> int:
    """Put something in the place of a text that stands in a table, and return the number of its line."""
    path = news / "phrases" / file
    before, found, after = path.read_text(encoding="utf-8").partition(old)
    assert found
    path.write_text(f"{before}{new}{after}", encoding="utf-8")
    return before.count("\n") + 1


def tell_faults(news: Path) -> list[str]:
    with pytest.raises(BadTables) as refused:
        build_modules(news / "phrases")
    return str(refused.value).splitlines()


def find_line(news: Path, file: str, start: str) -> int:
    lines = (news / "phrases" / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(start))


def test_modules_are_those_of_the_tables():
    """What was set up is what the tables say."""
    written = {path.stem: path.read_text(encoding="utf-8") for path in (NEWS / "vocabulary").glob("*.py")}
    assert written == build_modules(NEWS / "phrases")


def test_modules_are_written_once(news: Path):
    """Modules that are the same already are not written again."""
    write_modules(news)
    before = {path: path.stat().st_mtime_ns for path in (news / "vocabulary").iterdir()}
    write_modules(news)
    assert {path: path.stat().st_mtime_ns for path in (news / "vocabulary").iterdir()} == before


def test_duplicate_stops_the_build(news: Path):
    """A phrase that stands in the table already stops the build, with file and line, and nothing is written."""
    first = find_line(news, "headlines.txt", "hack\t")
    line = plant(news, "headlines.txt", "hack\tbad 3\t-")
    with pytest.raises(SystemExit) as stopped:
        write_modules(news)
    assert str(stopped.value) == f"{news}/phrases/headlines.txt:{line}: “hack” stands in line {first} already"
    assert not (news / "vocabulary").exists()


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        # strengths and kinds that exclude each other, in two lines and in one
        ("headlines.txt", "hack\tbad 2\t-", "“hack” has the strength 2 here and 3 in line {hack}"),
        ("headlines.txt", "hack\tgood 2\t-", "with line {hack} “hack” cannot be both “bad” and “good”"),
        ("headlines.txt", "hack\t-\thack", "“hack” stands in line {hack} too: write all that it says there"),
        ("headlines.txt", "zigzags\tbad 2, bad 1\t-", "two strengths, or twice the kind “bad”"),
        ("headlines.txt", "zigzags\tup, down\t-", "“zigzags” cannot be both “down” and “up”"),
        ("headlines.txt", "zigzags\tnothing, up\t-", "“zigzags” cannot be both “nothing” and “up”"),
        ("headlines.txt", "zigzags\t-\trise, fall", "“zigzags” cannot be both “fall” and “rise”"),
        ("headlines.txt", "zigzags\tup\tfall", "“zigzags” is “up” for the sentiment and “fall” for the stories"),
        # what nobody knows
        ("headlines.txt", "zigzags\tsideways\t-", "there is no kind “sideways”"),
        ("headlines.txt", "zigzags\tgood\t-", "“good” without a strength above zero"),
        ("headlines.txt", "zigzags\t-\tzigzag", "there is no act “zigzag”"),
        ("headlines.txt", "zigzags\t-\t-", "“zigzags” has neither a kind nor an act"),
        ("headlines.txt", "zigzags\tup", "2 columns instead of 3"),
        ("stories/words.txt", "[zigzags]", "there is no section “zigzags”"),
        # wildcards
        ("headlines.txt", "zi*gs\tup\t-", "a wildcard within the word “zi*gs”"),
        ("headlines.txt", "z*\tup\t-", "the stem “z*” is shorter than 3 letters"),
        ("headlines.txt", "$ zigzags\tup\t-", "“$” cannot stand here in “$ zigzags”"),
        ("headlines.txt", "# zigzags\tup\t-", "a comment with a tab: no entry begins with #"),
        ("headlines.txt", "zigzags _\tup\t-", "“_” cannot stand here in “zigzags _”"),
        # the other tables
        ("stories/names.txt", "putin\tchina", "“putin” is “china” here and “russia” in line {putin}"),
        ("topics/tags.txt", "(", "no regular expression: missing ), unterminated subpattern at position 0"),
        ("topics/tags.txt", "a?", "the pattern fits an empty text"),
    ],
)
def test_fault_stops_the_build(file: str, line: str, reason: str, news: Path):
    """Each fault is told with its file and line."""
    places = {word: find_line(news, name, f"{word}\t") for word, name in WORDS.items()}
    number = plant(news, file, line)
    assert tell_faults(news)[0] == f"{file}:{number}: {reason.format(**places)}"


def test_all_faults_are_told(news: Path):
    """Two faults are told at once."""
    lines = [plant(news, "headlines.txt", f"zigzag{kind}\t{kind}\t-") for kind in ("sideways", "askew")]
    assert [text.split(":")[1] for text in tell_faults(news)] == [str(line) for line in lines]


@pytest.mark.parametrize(
    ("change", "line", "reason"),
    [
        (lambda raw: raw.replace(b"\n", b"\r\n"), 1, "a carriage return: lines end with a line feed alone"),
        (lambda raw: raw.replace(b"surg", b"su\rrg", 1), 6, "a carriage return: lines end with a line feed alone"),
        (lambda raw: codecs.BOM_UTF8 + raw, 1, "the file begins with a byte order mark"),
        (lambda raw: raw.decode().encode("utf-16"), 1, "the file is UTF-16 instead of UTF-8"),
        (lambda raw: raw.replace(b"surg", b"su\xffrg", 1), 6, "the byte 0xff is no UTF-8"),
        (lambda raw: raw.replace(b"surg", "su\u200brg".encode(), 1), 6, "U+200B is invisible"),
        (lambda raw: raw.replace(b"surg", "su\u202erg".encode(), 1), 6, "U+202E is invisible"),
        (lambda raw: raw.replace(b"surg", b"su\x00rg", 1), 6, "U+0000 is invisible"),
        (lambda raw: raw.replace(b"# Tags", "# T\u00adags".encode(), 1), 1, "U+00AD is invisible"),
    ],
)
def test_bytes_that_nobody_sees(change: Callable[[bytes], bytes], line: int, reason: str, news: Path):
    """What an editor or a copied text leaves in a file is told with its line."""
    path = news / "phrases/topics/tags.txt"
    path.write_bytes(change(path.read_bytes()))
    assert tell_faults(news)[0] == f"topics/tags.txt:{line}: {reason}"


def test_missing_file(news: Path):
    (news / "phrases/topics/tags.txt").unlink()
    assert tell_faults(news) == ["topics/tags.txt:1: the file cannot be read: No such file or directory"]


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        (
            "stories/words.txt",
            "[stop words]",
            "[Stop words]",
            "“[Stop words]” is no heading: small letters, and a month where facts age",
        ),
        ("topics/tags.txt", "[lightning]", "[lightnin]", "there is no section “lightnin”"),
        ("sentiment/patterns.txt", "[calm]", "[calm 2026-11]", "there is no section with a month “calm”"),
        (
            "stories/names.txt",
            "[nicknames 2026-11]",
            "[nicknames]",
            "the section “nicknames” begins in line 4 already, and a section of facts that age has its month",
        ),
        ("stories/names.txt", "[nicknames 2026-11]", "[nicknames 2026-13]", "“2026-13” is no month since 2020-01"),
        ("stories/names.txt", "[nicknames 2026-11]", "[nicknames 2019-12]", "“2019-12” is no month since 2020-01"),
    ],
)
def test_heading(file: str, old: str, new: str, reason: str, news: Path):
    """A section that is unknown or misspelt, or has no month or one that cannot be, is told."""
    line = replace(news, file, old, new)
    assert tell_faults(news)[0] == f"{file}:{line}: {reason}"


@pytest.mark.parametrize(
    ("file", "section"),
    [
        ("topics/tags.txt", "lightning"),
        ("sentiment/patterns.txt", "calm"),
        ("summaries/words.txt", "objects"),
        ("stories/acts.txt", "follow-ups"),
    ],
)
def test_missing_section(file: str, section: str, news: Path):
    replace(news, file, f"[{section}]\n", "")
    assert any(
        fault.startswith(file) and fault.endswith(f": the section “{section}” is missing")
        for fault in tell_faults(news)
    )


def test_missing_month(news: Path):
    """The facts that age cannot stand among the others."""
    replace(news, "stories/names.txt", "[nicknames 2026-11]\n", "")
    assert tell_faults(news)[0].endswith(": the section with a month “nicknames” is missing")


@pytest.mark.parametrize(
    ("file", "section", "line", "reason"),
    [
        # capitals where small letters are compared
        ("stories/names.txt", "nicknames", "Putin\trussia", "“Putin” has a capital, and is compared in small letters"),
        ("stories/words.txt", "common words", "The", "“The” has a capital, and is compared in small letters"),
        ("summaries/words.txt", "past", "Began", "“Began” has a capital, and is compared in small letters"),
        (
            "stories/meanings.txt",
            "synonyms",
            "Exchange\tplatform",
            "“Exchange” has a capital, and is compared in small letters",
        ),
        ("topics/tags.txt", "etf", "ETFs?", "“ETFs?” has a capital, and is compared in small letters"),
        (
            "sentiment/rewriting.txt",
            "rewriting",
            "Zigzag FEWup\tbuys bitcoin",
            "“Zigzag {few}up” has a capital, and is compared in small letters",
        ),
        # expressions
        ("topics/tags.txt", "etf", "(?i)zigzag", "“(?i)” sets flags, and the table has its own"),
        ("topics/tags.txt", "etf", "(?-i:zigzag)", "“(?-i:” sets flags, and the table has its own"),
        ("sentiment/patterns.txt", "calm", "(?P<a>zig)zag", "a group that captures: write (?:…)"),
        ("sentiment/patterns.txt", "calm", "(zig)zag\\1", "a group that captures: write (?:…)"),
        (
            "sentiment/rewriting.txt",
            "rewriting",
            "(?P<a>zig)(?P<a>zag)\tbuys bitcoin",
            "no regular expression: redefinition of group name 'a' as group 2; was group 1 at position 14",
        ),
        (
            "sentiment/rewriting.txt",
            "rewriting",
            "zigzag\tmade \\9 whole",
            "“made \\9 whole”: invalid group reference 9 at position 6",
        ),
        (
            "sentiment/rewriting.txt",
            "rewriting",
            "zigzag\tmade \\g<a> whole",
            "“made \\g<a> whole”: unknown group name 'a'",
        ),
        (
            "sentiment/rewriting.txt",
            "rewriting",
            "zigzag\tzigs or zags",
            "no phrase of headlines.txt stands in “zigs or zags”",
        ),
        # two sections that exclude each other; the second is told
        ("topics/tags.txt", "price", "etfs?", "“etfs?” stands in “price” too, line {line}"),
        ("summaries/words.txt", "past", "shows", "“shows” stands in “past” too, line {line}"),
        ("summaries/words.txt", "commands", "watch", "“watch” stands in “commands” too, line {line}"),
        ("summaries/words.txt", "known to all", "startup", "“startup” stands in “known to all” too, line {line}"),
        (
            "summaries/patterns.txt",
            "boilerplate",
            "the headline",
            "“the headline” stands in “boilerplate” too, line {line}",
        ),
        ("stories/meanings.txt", "measures", "xbt\thash rate", "“xbt” stands in “measures” too, line {line}"),
        ("stories/words.txt", "name tails", "because", "“because” stands in “name tails” too, line {line}"),
        ("stories/patterns.txt", "recap", r"\boutlook\b", r"“\boutlook\b” stands in “recap” too, line {line}"),
        # names
        ("stories/names.txt", "nicknames", "strategy\tblackrock", "“strategy” is a name itself, in line {next}"),
        ("stories/names.txt", "nicknames", "bitcoin\tstrategy", "“bitcoin” is an asset in stories/meanings.txt"),
        ("stories/names.txt", "nicknames", "russia\trussia", "“russia” stands for itself"),
        ("stories/names.txt", "nicknames", "zig, zag\trussia", "“zig, zag” has a comma"),
        # words
        ("summaries/words.txt", "past", "zig zagged", "“zig zagged” are several words"),
        ("stories/words.txt", "common words", "zig,zag", "“zig,zag” has a comma"),
        ("stories/meanings.txt", "synonyms", "zig zag\tplatform", "“zig zag” are several words"),
        ("stories/acts.txt", "opposites", "hack\thack", "“hack” is no opposite of itself"),
    ],
)
def test_fault_in_a_section(file: str, section: str, line: str, reason: str, news: Path):
    """Each fault is told with its file and line."""
    number = plant_in(news, file, section, line)
    places = {"line": number, "next": number + 1, "few": FEW}
    told = reason
    for name, value in places.items():
        told = told.replace(f"{{{name}}}", str(value))
    where, _, what = tell_faults(news)[0].partition(": ")
    assert what == told
    assert where == f"{file}:{number}" or " too, line " in told


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("surges\tdown\t-", "“surges” never counts as “down”, because “surg*” fits wherever it does"),
        ("surges\tup\t-", "“surges” never counts as “up”, because “surg*” fits wherever it does"),
        ("opened door\tbad 2\t-", "“opened door” is “bad”, and the opposite as a form of “opens door”"),
        ("surging*\tup\t-", "“surging*” never counts as “up”, because “surg*” fits wherever it does"),
        (
            "halted withdrawals\tbad 2\t-",
            "“halted withdrawals” never counts as “bad”, because “halts withdrawals” fits wherever it does",
        ),
        ("opens doors\tgood 1\t-", "“opens doors” never counts as “good”, because “opens door” fits wherever it does"),
    ],
)
def test_phrase_beside_another(line: str, reason: str, news: Path):
    """A phrase that another one outdoes wherever it stands is told, and one whose verb is another's with the opposite meaning."""
    number = plant(news, "headlines.txt", line)
    assert tell_faults(news) == [f"headlines.txt:{number}: {reason}"]


@pytest.mark.parametrize("line", ["surges\tbad 1\t-", "surges past it\tdown\t-", "halted withdrawals\tbad 4\t-"])
def test_phrase_that_counts_beside_another(line: str, news: Path):
    """Another kind, more words or more strength are something of their own."""
    plant(news, "headlines.txt", line)
    build_modules(news / "phrases")


WORDS = {"hack": "headlines.txt", "putin": "stories/names.txt"}
