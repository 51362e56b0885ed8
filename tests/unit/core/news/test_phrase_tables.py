"""The build of the tables of phrases refuses what contradicts itself, and says where."""

import shutil
from pathlib import Path

import pytest

from phrase_tables import BadTables
from phrases import NEWS, build_modules, write_modules


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
    with pytest.raises(BadTables) as refused:
        build_modules(news / "phrases")
    assert str(refused.value).splitlines()[0] == f"{file}:{number}: {reason.format(**places)}"


def test_all_faults_are_told(news: Path):
    """Two faults are told at once."""
    lines = [plant(news, "headlines.txt", f"zigzag{kind}\t{kind}\t-") for kind in ("sideways", "askew")]
    with pytest.raises(BadTables) as refused:
        build_modules(news / "phrases")
    assert [text.split(":")[1] for text in str(refused.value).splitlines()] == [str(line) for line in lines]


WORDS = {"hack": "headlines.txt", "putin": "stories/names.txt"}
